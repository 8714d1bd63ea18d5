#pragma once
// y = a + b, element by element: residual connections, and the nodes of the tree over slots. y may be a or b itself.

#include "lockstep/kernels/cost.hpp"
#include "lockstep/tensor/view.hpp"

namespace lockstep {

template <class T>
struct Add {
  ConstMatrix<T> a, b;
  Matrix<T> y;
};

constexpr Cost add_cost(std::int64_t features, std::int64_t samples, std::size_t scalar) {
  const double n = double(features) * double(samples);
  return {.flops = n, .bytes = double(scalar) * 3 * n};
}

}  // namespace lockstep
