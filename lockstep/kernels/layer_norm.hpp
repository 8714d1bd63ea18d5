#pragma once
// Layer normalisation: the features of each sample are normalised by their own mean and variance.
//   x, y [features, samples]   gamma, beta [features]   F = features
//   mean = (sum of x) * (1/F)    var = (sum of (x - mean)^2) * (1/F)    inv_std = 1 / sqrt(var + eps)
//   y = fma((x - mean) * inv_std, gamma, beta)
// Order of every sum over features: one chain, ascending, from 0; squares and products enter by fma.
// Outputs are overwritten and never read; y may be x itself (then backward cannot follow).

#include "lockstep/kernels/cost.hpp"
#include "lockstep/kernels/slots.hpp"
#include "lockstep/tensor/view.hpp"

namespace lockstep {

/// Training and inference. Besides y it gives mean and inv_std of each sample, for backward; both null: not wanted.
template <class T>
struct LayerNormForward {
  T eps;
  ConstMatrix<T> x;
  const T *gamma, *beta;
  Matrix<T> y;
  T *mean, *inv_std;  // [samples]
};

/// With h = (x - mean) * inv_std and, per sample, p = sum of gamma * dy, q = sum of (gamma * dy) * h:
///   dx = inv_std * (gamma * dy - (p + h q) / F), evaluated as inv_std * fma(gamma, dy, -(fma(h, q, p) * (1/F)))
///   dgamma = sum over samples of dy * h, dbeta = sum over samples of dy: in the 16 virtual lanes of each slot (sample
///   16*block + l of the slot in lane l, one chain over blocks; products by fma), then the lane tree, then the slot
///   tree
/// dx may be dy itself.
template <class T>
struct LayerNormBackward {
  ConstMatrix<T> x, dy;
  const T *gamma, *mean, *inv_std;
  Slots slots;
  Matrix<T> dx;  // empty: not wanted
  T *dgamma, *dbeta;
};

constexpr Cost layer_norm_cost(std::int64_t features, std::int64_t samples, std::size_t scalar) {
  const double n = double(features) * double(samples);
  return {.flops = 8 * n, .bytes = double(scalar) * 3 * n};
}

}  // namespace lockstep
