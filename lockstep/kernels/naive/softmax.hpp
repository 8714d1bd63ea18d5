#pragma once
#include "lockstep/kernels/math/elementary.hpp"
#include "lockstep/kernels/naive/variant.hpp"
#include "lockstep/kernels/softmax.hpp"

namespace lockstep::LOCKSTEP_NAIVE {

/// The largest of column s: best = v > best ? v : best, from row 0.
template <class T>
T column_max(ConstMatrix<T> x, std::int64_t s) {
  T best = x(0, s);
  for (std::int64_t k = 1; k < x.rows; ++k)
    if (x(k, s) > best) best = x(k, s);
  return best;
}

template <class T>
void softmax_forward(const SoftmaxForward<T>& a) {
  for (std::int64_t s = 0; s < a.y.cols; ++s) {
    const T largest = column_max(a.x, s);
    T sum = T(0);
    for (std::int64_t k = 0; k < a.y.rows; ++k) {
      a.y(k, s) = math::exp(a.x(k, s) - largest);
      sum = sum + a.y(k, s);
    }
    for (std::int64_t k = 0; k < a.y.rows; ++k) a.y(k, s) = a.y(k, s) / sum;
  }
}

template <class T>
void softmax_backward(const SoftmaxBackward<T>& a) {
  for (std::int64_t s = 0; s < a.dx.cols; ++s) {
    T dot = T(0);
    for (std::int64_t k = 0; k < a.dx.rows; ++k) dot = fma(a.dy(k, s), a.y(k, s), dot);
    for (std::int64_t k = 0; k < a.dx.rows; ++k) a.dx(k, s) = a.y(k, s) * (a.dy(k, s) - dot);
  }
}

}  // namespace lockstep::LOCKSTEP_NAIVE
