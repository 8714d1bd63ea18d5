#include "cli/bench/team_primitives.hpp"

#include <algorithm>

namespace lockstep::cli {

namespace {

/// Rows that a member computes at a time in the symmetric product: whole tiles of the SIMD kernels (6 or 12 rows),
/// small enough that little above the diagonal is wasted, large enough that copying the samples pays.
constexpr std::int64_t kBlockRows = 96;

}  // namespace

void team_elementwise_max(const PrimitiveTable& table, const ElementwiseMax& a, Team& team) {
  team.run([&](const Member& member) {
    const std::int64_t first = member.share(a.c.rows, member.index);
    const std::int64_t count = member.share(a.c.rows, member.index + 1) - first;
    table.elementwise_max(
        {.a = a.a.rows_from(first, count), .b = a.b.rows_from(first, count), .c = a.c.rows_from(first, count)});
  });
}

TeamXxt::TeamXxt(const Kernel<LinearForward<float>>& linear, const Xxt& a, bool symmetric, int threads)
    : linear_(linear),
      a_(a),
      symmetric_(symmetric),
      team_(threads),
      transposed_(a.x.rows * a.x.cols),
      contexts_(static_cast<std::size_t>(threads)) {}

void TeamXxt::run() {
  team_.run([this](const Member& member) { run_member(member); });
}

void TeamXxt::run_member(const Member& member) {
  const std::int64_t n = a_.x.rows, k = a_.x.cols;
  const Matrix<float> transposed = dense_matrix(transposed_.data(), k, n);
  transpose_rows(a_.x, transposed, member.share(k, member.index), member.share(k, member.index + 1));
  member.barrier.wait();
  KernelContext& context = contexts_[static_cast<std::size_t>(member.index)];
  const auto rows = [&](std::int64_t first, std::int64_t end) {
    xxt_rows(linear_,
             {.x = a_.x, .x_transposed = transposed, .y = a_.y, .first = first, .end = end, .half = symmetric_},
             context);
  };
  if (!symmetric_) return rows(member.share(n, member.index), member.share(n, member.index + 1));
  // Later rows are longer. Blocks are dealt out back and forth (0 1 2 2 1 0 0 ...), so that every member gets long and
  // short ones.
  const auto dealt = [&](std::int64_t block) {
    const std::int64_t place = block % (2 * member.size);
    return place < member.size ? place : 2 * member.size - 1 - place;
  };
  const std::int64_t blocks = (n + kBlockRows - 1) / kBlockRows;
  for (std::int64_t b = 0; b < blocks; ++b)
    if (dealt(b) == member.index) rows(b * kBlockRows, std::min((b + 1) * kBlockRows, n));
  member.barrier.wait();
  for (std::int64_t b = 0; b < blocks; ++b)
    if (dealt(b) == member.index) mirror_rows(a_.y, b * kBlockRows, std::min((b + 1) * kBlockRows, n));
}

}  // namespace lockstep::cli
