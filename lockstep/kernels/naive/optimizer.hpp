#pragma once
#include "lockstep/kernels/naive/variant.hpp"
#include "lockstep/kernels/optimizer.hpp"

namespace lockstep::LOCKSTEP_NAIVE {

template <class T>
void add_l2(const AddL2<T>& a) {
  for (std::int64_t i = 0; i < a.count; ++i) a.g[i] = fma(a.l2, a.w[i], a.g[i]);
}

template <class T>
void scale_gradient(const ScaleGradient<T>& a) {
  for (std::int64_t i = 0; i < a.count; ++i) a.g[i] = a.g[i] * a.factor;
}

template <class T>
void sgd_step(const SgdStep<T>& a) {
  for (std::int64_t i = 0; i < a.count; ++i) {
    T step = a.g[i];
    if (a.v != nullptr) {
      a.v[i] = fma(a.momentum, a.v[i], a.g[i]);
      step = a.nesterov ? fma(a.momentum, a.v[i], a.g[i]) : a.v[i];
    }
    a.w[i] = fma(-a.lr, step, a.w[i]);
  }
}

template <class T>
void adam_step(const AdamStep<T>& a) {
  const T rest1 = T(1) - a.beta1, rest2 = T(1) - a.beta2;
  for (std::int64_t i = 0; i < a.count; ++i) {
    const T g = a.g[i];
    a.m[i] = fma(rest1, g, a.beta1 * a.m[i]);
    a.v[i] = fma(rest2 * g, g, a.beta2 * a.v[i]);
    const T step = a.m[i] / fma(square_root(a.v[i]), a.inv_root2, a.eps);
    a.w[i] = fma(-a.rate, step, a.w[i] * a.decay_factor);
  }
}

template <class T>
void rmsprop_step(const RmspropStep<T>& a) {
  const T rest = T(1) - a.alpha;
  for (std::int64_t i = 0; i < a.count; ++i) {
    const T g = a.g[i];
    a.v[i] = fma(rest * g, g, a.alpha * a.v[i]);
    a.w[i] = fma(-a.lr, g / (square_root(a.v[i]) + a.eps), a.w[i]);
  }
}

template <class T>
void lion_step(const LionStep<T>& a) {
  const T rest1 = T(1) - a.beta1, rest2 = T(1) - a.beta2;
  for (std::int64_t i = 0; i < a.count; ++i) {
    const T g = a.g[i], mean = fma(rest1, g, a.beta1 * a.m[i]);
    const T sign = mean > T(0) ? T(1) : mean < T(0) ? T(-1) : T(0);
    a.w[i] = fma(-a.lr, sign, a.w[i] * a.decay_factor);
    a.m[i] = fma(rest2, g, a.beta2 * a.m[i]);
  }
}

template <class T>
void square_sums(const SquareSums<T>& a) {
  for (std::int64_t block = 0; block * kSquareBlock < a.count; ++block) {
    double sum = 0;
    for (std::int64_t i = block * kSquareBlock; i < a.count && i < (block + 1) * kSquareBlock; ++i)
      sum = fma(double(a.x[i]), double(a.x[i]), sum);
    a.partial[block] = sum;
  }
}

}  // namespace lockstep::LOCKSTEP_NAIVE
