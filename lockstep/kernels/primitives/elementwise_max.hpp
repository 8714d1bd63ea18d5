#pragma once
// c = max(a, b), element by element: integers, so every way of computing it gives the same result.
//   a, b, c [rows, cols]
// c is overwritten and never read; it must not overlap an input. Whoever shares the work out passes parts of the rows.

#include "lockstep/kernels/cost.hpp"
#include "lockstep/tensor/view.hpp"

namespace lockstep {

struct ElementwiseMax {
  ConstMatrix<std::int32_t> a, b;
  Matrix<std::int32_t> c;
};

/// Comparisons count as operations: one per element.
constexpr Cost elementwise_max_cost(std::int64_t rows, std::int64_t cols) {
  const double elements = double(rows) * double(cols);
  return {.flops = elements, .bytes = 3 * sizeof(std::int32_t) * elements};
}

}  // namespace lockstep
