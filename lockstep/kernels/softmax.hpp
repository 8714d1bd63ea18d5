#pragma once
// Softmax over the features of each sample: y_k = exp(x_k - m) / sum over j of exp(x_j - m), m = max x.
// x, y, dy, dx [features, samples]. Order: every sum over features is a chain, ascending, from 0.
// y may be x itself; dx may be dy itself.

#include "lockstep/kernels/cost.hpp"
#include "lockstep/tensor/view.hpp"

namespace lockstep {

template <class T>
struct SoftmaxForward {
  ConstMatrix<T> x;
  Matrix<T> y;
};

/// dx_k = y_k * (dy_k - d),  d = sum over j of dy_j y_j (fma chain, ascending, from 0).
template <class T>
struct SoftmaxBackward {
  ConstMatrix<T> y, dy;
  Matrix<T> dx;
};

constexpr Cost softmax_cost(std::int64_t features, std::int64_t samples, std::size_t scalar) {
  const double n = double(features) * double(samples);
  return {.flops = 12 * n, .bytes = double(scalar) * 2 * n};
}

}  // namespace lockstep
