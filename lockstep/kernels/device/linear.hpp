#pragma once
#include "lockstep/kernels/device/launch.hpp"

namespace lockstep::device {

/// y(r, s) = b(r) + the sum over k of w[r * row_step + k * k_step] * x(k, s); without a bias from 0.
template <class T>
struct LinearProduct {
  ConstMatrix<T> x;
  const T* w = nullptr;
  std::int64_t row_step = 0, k_step = 0;
  const T* b = nullptr;
  Matrix<T> y;
};
template <class T>
void linear_product(const LinearProduct<T>& arguments, KernelContext& context);

}  // namespace lockstep::device
