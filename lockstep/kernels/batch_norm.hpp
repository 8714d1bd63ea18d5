#pragma once
// Batch normalisation. With the statistics of the slot: the same for any number of workers, and no communication. With
// those of the batch the same formulas in parts (the last three operations): a layer adds up over its chunk, the
// workers add up their chunks in the slot tree (nn/layer.hpp, BatchSum), and n is pixels * samples of the batch.
//   x, y [channels*pixels, samples]   gamma, beta [channels]   n = pixels * samples of the slot
//   mean = (sum of x) * (1/n)    var = (sum of (x - mean)^2) * (1/n)    inv_std = 1 / sqrt(var + eps)
//   y = fma(x - mean, gamma * inv_std, beta)
// Order of every sum over a slot: 16 virtual lanes; lane l is one chain over (block, pixel), ascending, from 0 (sample
// 16*block + l of the slot); squares and products enter by fma; then the lane tree.
// Outputs are overwritten and never read; y may be x itself (then backward cannot follow).

#include "lockstep/kernels/cost.hpp"
#include "lockstep/kernels/slots.hpp"
#include "lockstep/tensor/view.hpp"

namespace lockstep {

/// Training. Besides y it gives, per slot and channel, mean and inv_std (for backward; [slots, channels]), and two
/// sums over the slot tree for the running averages: sum_mean = sum of n * mean, sum_var = sum of n * (var * (n /
/// (n-1))), with 0 for a slot of n < 2 in sum_var and for an empty slot in both.
template <class T>
struct BatchNormForward {
  std::int64_t channels, pixels;
  T eps;
  ConstMatrix<T> x;
  const T *gamma, *beta;
  Slots slots;
  Matrix<T> y;
  T *mean, *inv_std;
  T *sum_mean, *sum_var;
};

/// Per slot, with sums ordered as above: p = sum of dy, q = inv_std * (sum of dy * (x - mean)).
///   dbeta = p and dgamma = q, each summed over the slot tree
///   dx = scale * (dy - (p + h q) / n), h = (x - mean) * inv_std, scale = gamma * inv_std; evaluated as
///        fma(scale, dy, fma(slope, x - mean, shift)), slope = -(scale * inv_std) * (q * (1/n)), shift = -scale * (p *
///        (1/n))
/// dx may be dy itself.
template <class T>
struct BatchNormBackward {
  std::int64_t channels, pixels;
  ConstMatrix<T> x, dy;
  const T *gamma, *mean, *inv_std;
  Slots slots;
  Matrix<T> dx;  // empty: not wanted
  T *dgamma, *dbeta;
};

/// Inference: y = fma(x - running_mean, gamma / sqrt(running_var + eps), beta).
template <class T>
struct BatchNormInference {
  std::int64_t channels, pixels;
  T eps;
  ConstMatrix<T> x;
  const T *gamma, *beta, *running_mean, *running_var;
  Matrix<T> y;
};

/// sum = the sum of x (centre null), or of (x - centre)^2 by fma, of every channel over the slots of a chunk: ordered
/// within a slot as above, then the slot tree, with 0 for an empty slot.
template <class T>
struct BatchNormSums {
  std::int64_t channels, pixels;
  ConstMatrix<T> x;
  const T* centre;  // [channels]
  Slots slots;
  T* sum;
};

/// y = fma(x - mean, gamma * inv_std, beta), mean and inv_std [channels]. y may be x itself.
template <class T>
struct BatchNormNormalise {
  std::int64_t channels, pixels;
  ConstMatrix<T> x;
  const T *gamma, *beta, *mean, *inv_std;
  Matrix<T> y;
};

/// dx of BatchNormBackward with given p = sum of dy, q = inv_std * (sum of dy * (x - mean)) and share = 1/n, where
/// mean, inv_std, p and q are [channels]. dx may be dy itself.
template <class T>
struct BatchNormBackwardData {
  std::int64_t channels, pixels;
  ConstMatrix<T> x, dy;
  const T *gamma, *mean, *inv_std, *p, *q;
  T share;
  Matrix<T> dx;
};

/// The running statistics, after a batch: running = (1 - momentum) * running + momentum * (sum / elements), without
/// fma, where `sum` is BatchNormForward's sum_mean or sum_var over all slots, or the sums of BatchNormSums.
template <class T>
struct RunningUpdate {
  std::int64_t count;  // channels
  T momentum, elements;
  const T* sum;
  T* running;
};

constexpr Cost batch_norm_cost(std::int64_t channels, std::int64_t pixels, std::int64_t samples, std::size_t scalar) {
  const double n = double(channels) * double(pixels) * double(samples);
  return {.flops = 7 * n, .bytes = double(scalar) * 3 * n};
}

}  // namespace lockstep
