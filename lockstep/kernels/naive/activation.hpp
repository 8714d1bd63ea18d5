#pragma once
#include "lockstep/kernels/activation.hpp"
#include "lockstep/kernels/math/elementary.hpp"
#include "lockstep/kernels/naive/variant.hpp"

namespace lockstep::LOCKSTEP_NAIVE {

template <class T>
LOCKSTEP_INLINE T gelu_tanh(T x) {
  const T u = T(0.7978845608028654) * fma(T(0.044715) * (x * x), x, x);
  return math::tanh(u);
}

template <class T>
T activate(ActivationKind kind, T slope, T x) {
  switch (kind) {
    case ActivationKind::relu:
      return x > T(0) ? x : T(0);
    case ActivationKind::leaky_relu:
      return x > T(0) ? x : slope * x;
    case ActivationKind::tanh:
      return math::tanh(x);
    case ActivationKind::abs_tanh: {
      const T t = math::tanh(x);
      return t < T(0) ? -t : t;
    }
    case ActivationKind::sigmoid:
      return math::sigmoid(slope * x);
    case ActivationKind::gelu:
      return (T(0.5) * x) * (T(1) + gelu_tanh(x));
  }
  return T(0);
}

template <class T>
T activation_gradient(ActivationKind kind, T slope, T x, T y, T dy) {
  switch (kind) {
    case ActivationKind::relu:
      return x > T(0) ? dy : T(0);
    case ActivationKind::leaky_relu:
      return x > T(0) ? dy : slope * dy;
    case ActivationKind::tanh:
      return dy * fma(-y, y, T(1));
    case ActivationKind::abs_tanh: {
      const T d = dy * fma(-y, y, T(1));
      return x < T(0) ? -d : d;
    }
    case ActivationKind::sigmoid:
      return (slope * dy) * (y * (T(1) - y));
    case ActivationKind::gelu: {
      const T t = gelu_tanh(x);
      const T slope_of_u = T(0.7978845608028654) * fma(T(0.134145) * x, x, T(1));
      const T slope_of_t = fma(-t, t, T(1)) * slope_of_u;
      return dy * (T(0.5) * fma(x, slope_of_t, T(1) + t));
    }
  }
  return T(0);
}

template <class T>
void activation_forward(const ActivationForward<T>& a) {
  for (std::int64_t r = 0; r < a.y.rows; ++r)
    for (std::int64_t s = 0; s < a.y.cols; ++s) a.y(r, s) = activate(a.kind, a.slope, a.x(r, s));
}

template <class T>
void activation_backward(const ActivationBackward<T>& a) {
  for (std::int64_t r = 0; r < a.dx.rows; ++r)
    for (std::int64_t s = 0; s < a.dx.cols; ++s)
      a.dx(r, s) = activation_gradient(a.kind, a.slope, a.x(r, s), a.y(r, s), a.dy(r, s));
}

}  // namespace lockstep::LOCKSTEP_NAIVE
