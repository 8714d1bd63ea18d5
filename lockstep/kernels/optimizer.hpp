#pragma once
// Optimiser steps over a range of the flat parameter vector: element-wise, so any split into ranges gives the same
// bits. w, g and the state (v, m) have `count` elements. Coefficients are rounded to T before use.

#include <cstdint>

#include "lockstep/kernels/cost.hpp"

namespace lockstep {

/// g = fma(l2, w, g): the gradient of l2/2 * |w|^2.
template <class T>
struct AddL2 {
  std::int64_t count;
  T l2;
  const T* w;
  T* g;
};

/// g = g * factor (gradient clipping).
template <class T>
struct ScaleGradient {
  std::int64_t count;
  T factor;
  T* g;
};

/// Gradient descent. With momentum: v = fma(momentum, v, g); step = nesterov ? fma(momentum, v, g) : v.
/// Without (momentum = 0, v null): step = g.   w = fma(-lr, step, w).
template <class T>
struct SgdStep {
  std::int64_t count;
  T lr, momentum;
  bool nesterov;
  const T* g;
  T *w, *v;
};

/// Adam and AdamW. Decoupled decay first (AdamW): w = w * (1 - lr*decay), where `decay_factor` is that factor (1:
/// none).
///   m = fma(1 - beta1, g, beta1 * m)    v = fma((1 - beta2) * g, g, beta2 * v)
///   w = fma(-rate, m / fma(sqrt(v), inv_root2, eps), w),  rate = lr / (1 - beta1^t), inv_root2 = 1 / sqrt(1 - beta2^t)
template <class T>
struct AdamStep {
  std::int64_t count;
  T rate, inv_root2, beta1, beta2, eps, decay_factor;
  const T* g;
  T *w, *m, *v;
};

/// RMSProp: v = fma((1 - alpha) * g, g, alpha * v); w = fma(-lr, g / (sqrt(v) + eps), w).
template <class T>
struct RmspropStep {
  std::int64_t count;
  T lr, alpha, eps;
  const T* g;
  T *w, *v;
};

/// Lion (Chen et al. 2023). Decoupled decay first, as in AdamW.
///   u = sign(fma(1 - beta1, g, beta1 * m)), where sign is 1, -1 or, of 0 and NaN, 0
///   w = fma(-lr, u, w * decay_factor)    m = fma(1 - beta2, g, beta2 * m)
template <class T>
struct LionStep {
  std::int64_t count;
  T lr, beta1, beta2, decay_factor;
  const T* g;
  T *w, *m;
};

/// Sums of squares of a vector in blocks of kSquareBlock elements, in double: partial[k] = one fma chain over block k,
/// ascending, from 0. The caller adds the partials by `block_tree`, so blocks may be computed anywhere.
inline constexpr std::int64_t kSquareBlock = 1024;

template <class T>
struct SquareSums {
  std::int64_t count;
  const T* x;
  double* partial;  // [ceil(count / kSquareBlock)]
};

constexpr Cost optimizer_cost(std::int64_t parameters, int state_vectors, std::size_t scalar) {
  const double n = double(parameters);
  return {.flops = n * (2 + 5 * state_vectors), .bytes = double(scalar) * n * (3 + 2 * state_vectors)};
}

}  // namespace lockstep
