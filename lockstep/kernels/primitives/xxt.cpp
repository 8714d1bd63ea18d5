#include "lockstep/kernels/primitives/xxt.hpp"

#include <algorithm>

namespace lockstep {

namespace {

// Both sides of a square of floats fit into L1 beside each other.
constexpr std::int64_t kSquare = 32;

/// work(row, end_row, col, end_col) for the squares of the rows [first, end) and the columns [0, cols).
template <class Work>
void for_squares(std::int64_t first, std::int64_t end, std::int64_t cols, const Work& work) {
  for (std::int64_t row = first; row < end; row += kSquare)
    for (std::int64_t col = 0; col < cols; col += kSquare)
      work(row, std::min(row + kSquare, end), col, std::min(col + kSquare, cols));
}

}  // namespace

void xxt_rows(const Kernel<LinearForward<float>>& linear, const XxtRows& a, KernelContext& context) {
  if (a.first >= a.end) return;
  const std::int64_t cols = a.half ? a.end : a.y.cols;
  ConstMatrix<float> samples = a.x_transposed;
  samples.cols = cols;
  Matrix<float> y = a.y.rows_from(a.first, a.end - a.first);
  y.cols = cols;
  linear({.x = samples, .w = a.x.rows_from(a.first, a.end - a.first), .y = y}, context);
}

void transpose_rows(ConstMatrix<float> x, Matrix<float> to, std::int64_t first, std::int64_t end) {
  for_squares(first, end, x.rows, [&](std::int64_t row, std::int64_t end_row, std::int64_t col, std::int64_t end_col) {
    for (std::int64_t r = row; r < end_row; ++r)
      for (std::int64_t c = col; c < end_col; ++c) to(r, c) = x(c, r);
  });
}

void mirror_rows(Matrix<float> y, std::int64_t first, std::int64_t end) {
  for_squares(first, end, y.cols, [&](std::int64_t row, std::int64_t end_row, std::int64_t col, std::int64_t end_col) {
    if (end_col <= row) return;
    for (std::int64_t r = row; r < end_row; ++r)
      for (std::int64_t c = std::max(col, r + 1); c < end_col; ++c) y(r, c) = y(c, r);
  });
}

}  // namespace lockstep
