#pragma once
// y = x x^T: the products of every row of a matrix with every row of it.
//   x [n, k]   y [n, n]
// y is overwritten and never read (it may hold NaN); it must not overlap x.
// Order: each y is one fma chain over k, ascending, from 0: acc = fma(x(i, k), x(j, k), acc). A product does not depend
// on the order of its factors, so y(i, j) and y(j, i) are the same bits, and whoever computes one may copy the other.

#include "lockstep/kernels/context.hpp"
#include "lockstep/kernels/cost.hpp"
#include "lockstep/kernels/linear.hpp"
#include "lockstep/kernels/table.hpp"
#include "lockstep/tensor/view.hpp"

namespace lockstep {

struct Xxt {
  ConstMatrix<float> x;
  Matrix<float> y;
};

/// Rows [first, end) of y. `half`: only the columns up to the diagonal need be written; the kernel may write more.
struct XxtRows {
  ConstMatrix<float> x;
  ConstMatrix<float> x_transposed;  // [k, n], the same numbers
  Matrix<float> y;
  std::int64_t first = 0, end = 0;
  bool half = false;
};

/// By a kernel of linear layers: the rows of x are weights, its transpose the samples. The bits are those of the
/// kernel's contract, which are those of ours.
void xxt_rows(const Kernel<LinearForward<float>>& linear, const XxtRows& a, KernelContext& context);

/// Rows [first, end) of the transpose of x: to(r, c) = x(c, r).
void transpose_rows(ConstMatrix<float> x, Matrix<float> to, std::int64_t first, std::int64_t end);

/// y(r, c) = y(c, r) for c > r, in rows [first, end).
void mirror_rows(Matrix<float> y, std::int64_t first, std::int64_t end);

/// Of the mathematics: n * n sums, or, with the symmetry, n * (n + 1) / 2 of them.
constexpr Cost xxt_cost(std::int64_t n, std::int64_t k, bool half = false) {
  const double rows = double(n), sums = half ? rows * (rows + 1) / 2 : rows * rows;
  return {.flops = 2 * sums * double(k), .bytes = sizeof(float) * (rows * double(k) + rows * rows)};
}

}  // namespace lockstep
