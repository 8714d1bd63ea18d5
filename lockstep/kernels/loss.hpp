#pragma once
// Losses: one value per sample and the gradient by the network's raw output z [outputs, samples].
// Cross-entropies take the logits: the sigmoid or softmax before them is part of the loss, so nothing saturates.
//
//   kind                   loss of a sample                                        dz
//   cross_entropy          log(sum over k of exp(z_k - m)) - (z_label - m)          scale * (p_k - [k = label])
//   binary_cross_entropy   sum over k of max(z,0) - z t + log1p(exp(-|z|))          scale * (sigmoid(z) - t)
//   squared_error          sum over k of 0.5 (z - t)^2                              scale * (z - t)
//   focal                  (1 - p)^gamma * cross_entropy, p = p_label               see below
//   huber                  sum over k of 0.5 d^2, or delta (|d| - delta/2) where    scale * d, or scale * +-delta
//                          |d| > delta, d = z - t
//
// Label smoothing e of cross_entropy over K outputs: t_label = on + off and all other t_k = off, with on = 1 - e and
// off = e / K. loss = log(sum) - fma(on, z_label - m, off * B), B the chain over k of z_k - m; dz = scale * (p_k -
// t_k). Targets given as numbers, which add up to 1: loss = log(sum) - (the chain over k of fma(t_k, z_k - m, ...),
// from 0) and dz = scale * (p_k - t_k); smoothing makes them fma(on, t_k, off) first. Focal has labels only. Focal:
// with c = cross_entropy, q = 1 - p and r = q^(gamma - 1), the product 1 * q * q ..., the loss is (r * q)
// * c and dz = (scale * (r * fma(gamma * p, c, q))) * (p_k - [k = label]). Huber adds each term by one fma, as
// squared_error does.
//
// m = max z, p = softmax(z). Sums over k are chains, ascending, from 0. For a label, t is its one-hot vector; with one
// output, t is the label itself (0 or 1). Outputs are overwritten; dz may be z itself.
//
// With weights, the loss of sample s is weight[s] * (the loss above), and its scale is scale * weight[s]: one rounding
// each, before anything is added up. Without weights neither product is taken.

#include "lockstep/core/names.hpp"
#include "lockstep/kernels/cost.hpp"
#include "lockstep/kernels/slots.hpp"
#include "lockstep/tensor/view.hpp"

namespace lockstep {

enum class Loss { cross_entropy, binary_cross_entropy, squared_error, focal, huber };

constexpr Described describe(Loss loss) {
  switch (loss) {
    case Loss::cross_entropy:
      return {"cross-entropy", "of the softmax of the outputs; a final softmax layer is folded in"};
    case Loss::binary_cross_entropy:
      return {"binary-cross-entropy", "summed over the outputs; the network ends in sigmoid"};
    case Loss::squared_error:
      return {"squared-error", "half the sum of squares"};
    case Loss::focal:
      return {"focal",
              "cross-entropy times (1 - p)^`focal_gamma`, p the probability of the label: samples that are known count "
              "little"};
    case Loss::huber:
      return {"huber", "squared error up to `huber_delta`, beyond it the absolute error"};
  }
  return {};
}

/// Of the softmax of the outputs: the targets are labels.
constexpr bool is_of_softmax(Loss loss) { return loss == Loss::cross_entropy || loss == Loss::focal; }
/// Of the outputs as they are.
constexpr bool is_of_values(Loss loss) { return loss == Loss::squared_error || loss == Loss::huber; }

/// The targets of a chunk: class labels, or a matrix of real values [outputs, samples]. Where both are given the loss
/// takes the values, and the labels say which answers are right.
template <class T>
struct LossTargets {
  const std::int32_t* labels = nullptr;
  ConstMatrix<T> values;
};

template <class T>
struct LossGradient {
  Loss kind;
  T smoothing = T(0);      // of cross_entropy
  std::int32_t gamma = 2;  // of focal, at least 1
  T delta = T(1);          // of huber
  T scale = T(
      1);  // 1 / (sum of the batch's weights) for a mean over samples, 1 for a sum; a weight is 1 where none are given
  ConstMatrix<T> z{};
  LossTargets<T> targets{};
  const T* weights = nullptr;  // [samples]; null: none
  T* loss = nullptr;           // [samples]
  Matrix<T> dz{};              // empty: only the loss is wanted
};

/// A loss with its numbers. Evaluations do not smooth labels.
struct LossOptions {
  Loss kind = Loss::cross_entropy;
  double label_smoothing = 0;    // of cross_entropy
  std::int64_t focal_gamma = 2;  // of focal
  double huber_delta = 1;        // of huber

  /// The arguments that do not depend on the samples.
  template <class T>
  LossGradient<T> arguments(bool training) const {
    return {.kind = kind,
            .smoothing = training ? T(label_smoothing) : T(0),
            .gamma = static_cast<std::int32_t>(focal_gamma),
            .delta = T(huber_delta)};
  }
};

/// What training reports of a chunk, per slot: the sum of its losses and how many predictions are right.
///   sum[slot] = a chain over the slot's samples of double(loss), ascending, from 0; 0 for an empty slot
///   correct[slot] = samples whose predicted class is their label; 0 where there are no labels
/// Where every step of a sequence has a class, step t of sample s is column t * step_stride + s of z, labels and loss.
/// The chain takes the steps of each sample, ascending, as far as its length goes.
/// The predicted class is the largest output, the first of equal ones; with one output it is 1 from the middle on (0
/// for a logit, 0.5 for a value trained by squared error or huber).
template <class T>
struct ScoreSlots {
  Loss kind;
  ConstMatrix<T> z;                      // the network's output
  const std::int32_t* labels = nullptr;  // [samples] or null: targets are numbers
  const T* loss;                         // [samples]
  Slots slots;                           // of samples
  std::int64_t steps = 1, step_stride = 0;
  const std::int64_t* lengths = nullptr;  // [samples]; null: all have all steps
  double* sum;                            // [slots]
  std::int64_t* correct;                  // [slots]
};

constexpr Cost loss_cost(std::int64_t outputs, std::int64_t samples, std::size_t scalar) {
  const double n = double(outputs) * double(samples);
  return {.flops = 14 * n, .bytes = double(scalar) * 2 * n};
}

}  // namespace lockstep
