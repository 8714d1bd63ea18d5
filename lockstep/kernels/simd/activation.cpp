// Activations: one pass, a vector of elements at a time. Limit: the memory for the piecewise linear kinds, the
// polynomials and one division for the others. The formulas are those of naive/activation.hpp in the same order.

#include "lockstep/kernels/activation.hpp"

#include "lockstep/kernels/simd/ops.hpp"

namespace lockstep::LOCKSTEP_SIMD {

namespace {

template <class T>
LOCKSTEP_INLINE Vec<T> gelu_tanh(Vec<T> x) {
  return math::tanh(broadcast(T(0.7978845608028654)) * fma(broadcast(T(0.044715)) * (x * x), x, x));
}

template <class T>
LOCKSTEP_INLINE Vec<T> gelu(Vec<T> x) {
  return (broadcast(T(0.5)) * x) * (broadcast(T(1)) + gelu_tanh(x));
}

template <class T>
LOCKSTEP_INLINE Vec<T> gelu_gradient(Vec<T> x, Vec<T> dy) {
  const Vec<T> one = broadcast(T(1)), t = gelu_tanh(x);
  const Vec<T> slope_of_u = broadcast(T(0.7978845608028654)) * fma(broadcast(T(0.134145)) * x, x, one);
  const Vec<T> slope_of_t = fma(-t, t, one) * slope_of_u;
  return dy * (broadcast(T(0.5)) * fma(x, slope_of_t, one + t));
}

template <class T>
LOCKSTEP_INLINE Vec<T> tanh_gradient(Vec<T> y, Vec<T> dy) {
  return dy * fma(-y, y, broadcast(T(1)));
}

}  // namespace

template <class T>
void activation_forward(const ActivationForward<T>& a, KernelContext&) {
  using V = Vec<T>;
  const V none = zero<T>(), slope = broadcast(a.slope);
  switch (a.kind) {
    case ActivationKind::relu:
      return map(
          a.y, [=](V x) LOCKSTEP_INLINE_LAMBDA { return larger(x, none); }, a.x);
    case ActivationKind::leaky_relu:
      return map(
          a.y, [=](V x) LOCKSTEP_INLINE_LAMBDA { return select(x > none, x, slope * x); }, a.x);
    case ActivationKind::tanh:
      return map(
          a.y, [](V x) LOCKSTEP_INLINE_LAMBDA { return math::tanh(x); }, a.x);
    case ActivationKind::abs_tanh:
      return map(
          a.y,
          [=](V x) LOCKSTEP_INLINE_LAMBDA {
            const V t = math::tanh(x);
            return select(t < none, -t, t);
          },
          a.x);
    case ActivationKind::sigmoid:
      return map(
          a.y, [=](V x) LOCKSTEP_INLINE_LAMBDA { return math::sigmoid(slope * x); }, a.x);
    case ActivationKind::gelu:
      return map(
          a.y, [](V x) LOCKSTEP_INLINE_LAMBDA { return gelu(x); }, a.x);
  }
}

template <class T>
void activation_backward(const ActivationBackward<T>& a, KernelContext&) {
  using V = Vec<T>;
  const V none = zero<T>(), one = broadcast(T(1)), slope = broadcast(a.slope);
  switch (a.kind) {
    case ActivationKind::relu:
      return map(
          a.dx, [=](V x, V dy) LOCKSTEP_INLINE_LAMBDA { return keep(x > none, dy); }, a.x, a.dy);
    case ActivationKind::leaky_relu:
      return map(
          a.dx, [=](V x, V dy) LOCKSTEP_INLINE_LAMBDA { return select(x > none, dy, slope * dy); }, a.x, a.dy);
    case ActivationKind::tanh:
      return map(
          a.dx, [](V y, V dy) LOCKSTEP_INLINE_LAMBDA { return tanh_gradient(y, dy); }, a.y, a.dy);
    case ActivationKind::abs_tanh:
      return map(
          a.dx,
          [=](V x, V y, V dy) LOCKSTEP_INLINE_LAMBDA {
            const V d = tanh_gradient(y, dy);
            return select(x < none, -d, d);
          },
          a.x, a.y, a.dy);
    case ActivationKind::sigmoid:
      return map(
          a.dx, [=](V y, V dy) LOCKSTEP_INLINE_LAMBDA { return (slope * dy) * (y * (one - y)); }, a.y, a.dy);
    case ActivationKind::gelu:
      return map(
          a.dx, [](V x, V dy) LOCKSTEP_INLINE_LAMBDA { return gelu_gradient(x, dy); }, a.x, a.dy);
  }
}

LOCKSTEP_SIMD_INSTANTIATE(activation_forward, ActivationForward)
LOCKSTEP_SIMD_INSTANTIATE(activation_backward, ActivationBackward)

}  // namespace lockstep::LOCKSTEP_SIMD
