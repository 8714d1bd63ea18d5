#pragma once
// Element-wise activations. x, y [features, samples]; y may be x itself, dx may be dy itself.
//
//   kind        y                                   dx
//   relu        x > 0 ? x : 0                       x > 0 ? dy : 0
//   leaky_relu  x > 0 ? x : slope * x               x > 0 ? dy : slope * dy
//   tanh        tanh(x)                             dy * (1 - y^2)
//   abs_tanh    |tanh(x)|                           x < 0 ? -(dy * (1 - y^2)) : dy * (1 - y^2)
//   sigmoid     1 / (1 + exp(-slope * x))           slope * dy * (y * (1 - y))
//   gelu        0.5 x (1 + tanh(u)),                dy * (0.5 (1 + t) + 0.5 x (1 - t^2) c (1 + 3 a x^2)),
//               u = c (x + a x^3)                   t = tanh(u), c = sqrt(2/pi), a = 0.044715 (the tanh form)
//
// Backward is given x and y of the forward pass and uses what the kind needs.

#include "lockstep/kernels/cost.hpp"
#include "lockstep/tensor/view.hpp"

namespace lockstep {

enum class ActivationKind { relu, leaky_relu, tanh, abs_tanh, sigmoid, gelu };

template <class T>
struct ActivationForward {
  ActivationKind kind;
  T slope;  // of leaky_relu (negative side) and sigmoid (lambda); else unused
  ConstMatrix<T> x;
  Matrix<T> y;
};

template <class T>
struct ActivationBackward {
  ActivationKind kind;
  T slope;
  ConstMatrix<T> x, y, dy;
  Matrix<T> dx;
};

/// Nominal: one operation per element for the piecewise linear kinds, ten for those with an exponential.
constexpr Cost activation_cost(ActivationKind kind, std::int64_t features, std::int64_t samples, std::size_t scalar) {
  const double n = double(features) * double(samples);
  const bool cheap = kind == ActivationKind::relu || kind == ActivationKind::leaky_relu;
  return {.flops = (cheap ? 1 : 10) * n, .bytes = double(scalar) * 2 * n};
}

}  // namespace lockstep
