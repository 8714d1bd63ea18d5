// Optimiser steps: one pass over the parameter vector and its state. Limit: the memory once the vectors leave the
// cache; before that, for adam and rmsprop, the division and square root (one of each per element).

#include "lockstep/kernels/optimizer.hpp"

#include "lockstep/kernels/simd/ops.hpp"

namespace lockstep::LOCKSTEP_SIMD {

namespace {

/// Asks for what the loop will write 16 lines later. The other cores have read the weights, and to write them a core
/// has to take them back, which takes long.
template <class T>
LOCKSTEP_INLINE void ask_for(T* vector, std::int64_t i) {
  __builtin_prefetch(reinterpret_cast<const char*>(vector + i) + 1024, 1);
}

/// Velocities of a block are written before its weights. Stores are done in order, so among others fewer of those to
/// the weights would be under way, which wait for lines that other cores have read.
constexpr std::int64_t kBlock = 1024;

}  // namespace

template <class T>
void add_l2(const AddL2<T>& a, KernelContext&) {
  const Vec<T> l2 = broadcast(a.l2);
  for_vectors<T>(0, a.count, [&](std::int64_t i, const auto& end) LOCKSTEP_INLINE_LAMBDA {
    store(a.g + i, fma(l2, load(a.w + i, end), load(a.g + i, end)), end);
  });
}

template <class T>
void scale_gradient(const ScaleGradient<T>& a, KernelContext&) {
  const Vec<T> factor = broadcast(a.factor);
  for_vectors<T>(0, a.count, [&](std::int64_t i, const auto& end) LOCKSTEP_INLINE_LAMBDA {
    store(a.g + i, load(a.g + i, end) * factor, end);
  });
}

template <class T>
void sgd_step(const SgdStep<T>& a, KernelContext&) {
  const Vec<T> minus_lr = broadcast(-a.lr), momentum = broadcast(a.momentum);
  const bool nesterov = a.nesterov;
  T *w = a.w, *v = a.v;
  const T* g = a.g;
  if (v == nullptr)
    return for_vectors<T>(0, a.count, [=](std::int64_t i, const auto& end) LOCKSTEP_INLINE_LAMBDA {
      ask_for(w, i);
      store(w + i, fma(minus_lr, load(g + i, end), load(w + i, end)), end);
    });
  for (std::int64_t first = 0; first < a.count; first += kBlock) {
    const std::int64_t last = least(first + kBlock, a.count);
    for_vectors<T>(first, last, [=](std::int64_t i, const auto& end) LOCKSTEP_INLINE_LAMBDA {
      store(v + i, fma(momentum, load(v + i, end), load(g + i, end)), end);
    });
    for_vectors<T>(first, last, [=](std::int64_t i, const auto& end) LOCKSTEP_INLINE_LAMBDA {
      const Vec<T> velocity = load(v + i, end);
      const Vec<T> step = nesterov ? fma(momentum, velocity, load(g + i, end)) : velocity;
      store(w + i, fma(minus_lr, step, load(w + i, end)), end);
    });
  }
}

template <class T>
void adam_step(const AdamStep<T>& a, KernelContext&) {
  const Vec<T> minus_rate = broadcast(-a.rate), inv_root2 = broadcast(a.inv_root2), eps = broadcast(a.eps);
  const Vec<T> beta1 = broadcast(a.beta1), rest1 = broadcast(T(1) - a.beta1);
  const Vec<T> beta2 = broadcast(a.beta2), rest2 = broadcast(T(1) - a.beta2);
  const Vec<T> decay = broadcast(a.decay_factor);
  T *w = a.w, *m = a.m, *v = a.v;
  const T* g = a.g;
  for_vectors<T>(0, a.count, [=](std::int64_t i, const auto& end) LOCKSTEP_INLINE_LAMBDA {
    ask_for(w, i);
    const Vec<T> gradient = load(g + i, end);
    const Vec<T> mean = fma(rest1, gradient, beta1 * load(m + i, end));
    const Vec<T> square = fma(rest2 * gradient, gradient, beta2 * load(v + i, end));
    store(m + i, mean, end);
    store(v + i, square, end);
    const Vec<T> step = mean / fma(sqrt(square), inv_root2, eps);
    store(w + i, fma(minus_rate, step, load(w + i, end) * decay), end);
  });
}

template <class T>
void rmsprop_step(const RmspropStep<T>& a, KernelContext&) {
  const Vec<T> minus_lr = broadcast(-a.lr), eps = broadcast(a.eps);
  const Vec<T> alpha = broadcast(a.alpha), rest = broadcast(T(1) - a.alpha);
  T *w = a.w, *v = a.v;
  const T* g = a.g;
  for_vectors<T>(0, a.count, [=](std::int64_t i, const auto& end) LOCKSTEP_INLINE_LAMBDA {
    ask_for(w, i);
    const Vec<T> gradient = load(g + i, end);
    const Vec<T> square = fma(rest * gradient, gradient, alpha * load(v + i, end));
    store(v + i, square, end);
    store(w + i, fma(minus_lr, gradient / (sqrt(square) + eps), load(w + i, end)), end);
  });
}

template <class T>
void lion_step(const LionStep<T>& a, KernelContext&) {
  const Vec<T> minus_lr = broadcast(-a.lr), decay = broadcast(a.decay_factor);
  const Vec<T> beta1 = broadcast(a.beta1), rest1 = broadcast(T(1) - a.beta1);
  const Vec<T> beta2 = broadcast(a.beta2), rest2 = broadcast(T(1) - a.beta2);
  const Vec<T> zero = broadcast(T(0)), one = broadcast(T(1));
  T *w = a.w, *m = a.m;
  const T* g = a.g;
  for_vectors<T>(0, a.count, [=](std::int64_t i, const auto& end) LOCKSTEP_INLINE_LAMBDA {
    ask_for(w, i);
    const Vec<T> gradient = load(g + i, end), moment = load(m + i, end);
    const Vec<T> mean = fma(rest1, gradient, beta1 * moment);
    const Vec<T> sign = select(mean > zero, one, select(mean < zero, -one, zero));
    store(m + i, fma(rest2, gradient, beta2 * moment), end);
    store(w + i, fma(minus_lr, sign, load(w + i, end) * decay), end);
  });
}

/// A block is one chain and would wait for every fma: kChains blocks side by side keep the units busy. Scalars do: a
/// vector over blocks would first have to be gathered from kChains places.
template <class T>
void square_sums(const SquareSums<T>& a, KernelContext&) {
  constexpr std::int64_t kChains = 8;
  const std::int64_t whole = a.count / kSquareBlock, blocks = (a.count + kSquareBlock - 1) / kSquareBlock;
  std::int64_t block = 0;
  for (; block + kChains <= whole; block += kChains) {
    const T* x = a.x + block * kSquareBlock;
    double sum[kChains] = {};
    for (std::int64_t i = 0; i < kSquareBlock; ++i)
#pragma GCC unroll 8
      for (std::int64_t k = 0; k < kChains; ++k) {
        const double value = static_cast<double>(x[k * kSquareBlock + i]);
        sum[k] = __builtin_fma(value, value, sum[k]);
      }
    for (std::int64_t k = 0; k < kChains; ++k) a.partial[block + k] = sum[k];
  }
  for (; block < blocks; ++block) {
    double sum = 0;
    for (std::int64_t i = block * kSquareBlock; i < least((block + 1) * kSquareBlock, a.count); ++i) {
      const double value = static_cast<double>(a.x[i]);
      sum = __builtin_fma(value, value, sum);
    }
    a.partial[block] = sum;
  }
}

LOCKSTEP_SIMD_INSTANTIATE(add_l2, AddL2)
LOCKSTEP_SIMD_INSTANTIATE(scale_gradient, ScaleGradient)
LOCKSTEP_SIMD_INSTANTIATE(sgd_step, SgdStep)
LOCKSTEP_SIMD_INSTANTIATE(adam_step, AdamStep)
LOCKSTEP_SIMD_INSTANTIATE(rmsprop_step, RmspropStep)
LOCKSTEP_SIMD_INSTANTIATE(lion_step, LionStep)
LOCKSTEP_SIMD_INSTANTIATE(square_sums, SquareSums)

}  // namespace lockstep::LOCKSTEP_SIMD
