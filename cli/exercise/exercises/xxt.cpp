#include "lockstep/kernels/primitives/xxt.hpp"
#include "cli/exercise/exercises/chains.hpp"
#include "cli/exercise/exercises/list.hpp"
#include "cli/exercise/exercises/rows.hpp"
#include "lockstep/core/aligned.hpp"
#include "lockstep/kernels/naive/table.hpp"
#include "lockstep/kernels/simd/table.hpp"

namespace lockstep::cli {

namespace xxt_parts {

struct XxtArgs {
  std::int64_t n, k;
  const float* x;
  float* y;
};

const SumChain<XxtArgs> kXxtChain = {.results = [](const XxtArgs& a) { return a.n * a.n; },
                                     .result = [](const XxtArgs& a, std::int64_t r) { return a.y + r; },
                                     .terms = [](const XxtArgs& a) { return a.k; },
                                     .term =
                                         [](const XxtArgs& a, std::int64_t r, std::int64_t k) {
                                           return ChainTerm{a.x[r / a.n * a.k + k], a.x[r % a.n * a.k + k]};
                                         }};

float element(const XxtArgs& a, std::int64_t i, std::int64_t j) {
  float sum = 0;
  for (std::int64_t k = 0; k < a.k; ++k) sum = __builtin_fmaf(a.x[i * a.k + k], a.x[j * a.k + k], sum);
  return sum;
}

void by_our_kernels(const XxtArgs& a, int threads) {
  static const auto table = make_simd_table<float>();
  AlignedBuffer<float> transposed(a.n * a.k);
  const ConstMatrix<float> x = dense_matrix(a.x, a.n, a.k);
  const Matrix<float> to = dense_matrix(transposed.data(), a.k, a.n);
  share_rows(a.k, threads, [&](std::int64_t first, std::int64_t count, KernelContext&) {
    transpose_rows(x, to, first, first + count);
  });
  share_rows(a.n, threads, [&](std::int64_t first, std::int64_t count, KernelContext& context) {
    xxt_rows(table.linear_forward,
             {.x = x, .x_transposed = to, .y = dense_matrix(a.y, a.n, a.n), .first = first, .end = first + count},
             context);
  });
}

constexpr const char* kXxtTask = R"(The product of a matrix with its own transpose:

    y[i, j] = sum over k of x[i, k] * x[j, k]        x: [n, k]   y: [n, n]

**The order is part of the task.** Each y is one chain, from 0, for k = 0, 1, ...:

    sum = fmaf(x[i, k], x[j, k], sum)

The result is symmetric, so y[j, i] may be a copy of y[i, j]: half of the work. k = 0 gives zeros.)";

}  // namespace xxt_parts

Exercise xxt_exercise() {
  using namespace xxt_parts;
  ExerciseOf<XxtArgs> e("xxt", "xxt");
  e.record.title = "A matrix times its transpose";
  e.record.teaches = "A product whose rows are contiguous, symmetry, and load balance where the work is a triangle.";
  e.record.needs = {"linear-forward"};
  e.record.tracks = {"cpp", "simd", "openmp", "opencl", "cuda", "python"};
  e.record.task = kXxtTask;
  e.size("n", &XxtArgs::n, "rows of x, rows and columns of y");
  e.size("k", &XxtArgs::k, "columns of x");
  e.input(
      "x", &XxtArgs::x,
      [](const XxtArgs& a) {
        return Dims{a.n, a.k};
      },
      "[n, k]");
  e.output(
      "y", &XxtArgs::y,
      [](const XxtArgs& a) {
        return Dims{a.n, a.n};
      },
      "[n, n]");
  e.record.shapes = awkward_shapes({65, 65});
  e.record.shapes.push_back({97, 101});
  e.record.timed = {256, 256};
  e.oracle([](const XxtArgs& a) {
    naive_primitives().xxt({dense_matrix(a.x, a.n, a.k), dense_matrix(a.y, a.n, a.n)});
  });
  e.fast(by_our_kernels);
  e.cost([](const XxtArgs& a) { return xxt_cost(a.n, a.k); });
  e.terms([](const XxtArgs& a) { return a.k; });
  add_chain_mistakes(e, kXxtChain);
  e.mistake("other-product", "You compute x^T x: sums over rows. The sum runs over the columns k.",
            [](const XxtArgs& a) {
              for (std::int64_t i = 0; i < std::min(a.n, a.k); ++i)
                for (std::int64_t j = 0; j < std::min(a.n, a.k); ++j) {
                  float sum = 0;
                  for (std::int64_t r = 0; r < a.n; ++r) sum = __builtin_fmaf(a.x[r * a.k + i], a.x[r * a.k + j], sum);
                  a.y[i * a.n + j] = sum;
                }
            });
  e.mistake("diagonal-twice", "The diagonal is counted twice.", [](const XxtArgs& a) {
    for (std::int64_t i = 0; i < a.n; ++i)
      for (std::int64_t j = 0; j < a.n; ++j) a.y[i * a.n + j] = (i == j ? 2.0F : 1.0F) * element(a, i, j);
  });
  e.mistake("half-zero", "One half of y is zero: the mirror is missing.", [](const XxtArgs& a) {
    for (std::int64_t i = 0; i < a.n; ++i)
      for (std::int64_t j = 0; j < a.n; ++j) a.y[i * a.n + j] = j <= i ? element(a, i, j) : 0;
  });
  e.mistake("upper-zero", "One half of y is zero: the mirror is missing.", [](const XxtArgs& a) {
    for (std::int64_t i = 0; i < a.n; ++i)
      for (std::int64_t j = 0; j < a.n; ++j) a.y[i * a.n + j] = j >= i ? element(a, i, j) : 0;
  });
  e.mistake("half-unwritten", "Only the lower half of y is written; the upper half is its mirror.",
            [](const XxtArgs& a) {
              for (std::int64_t i = 0; i < a.n; ++i)
                for (std::int64_t j = 0; j <= i; ++j) a.y[i * a.n + j] = element(a, i, j);
            });
  e.mistake("upper-unwritten", "Only the upper half of y is written; the lower half is its mirror.",
            [](const XxtArgs& a) {
              for (std::int64_t i = 0; i < a.n; ++i)
                for (std::int64_t j = i; j < a.n; ++j) a.y[i * a.n + j] = element(a, i, j);
            });
  e.mistake("no-diagonal", "The diagonal of y is not written: the loop ends one too early.", [](const XxtArgs& a) {
    for (std::int64_t i = 0; i < a.n; ++i)
      for (std::int64_t j = 0; j < a.n; ++j)
        if (i != j) a.y[i * a.n + j] = element(a, i, j);
  });
  return std::move(e.record);
}

}  // namespace lockstep::cli
