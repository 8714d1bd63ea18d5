#pragma once
// Losses: one value per sample and the gradient by the network's raw output z [outputs, samples].
// Cross-entropies take the logits: the sigmoid or softmax before them is part of the loss, so nothing saturates.
//
//   kind                   loss of a sample                                        dz
//   cross_entropy          log(sum over k of exp(z_k - m)) - (z_label - m)          scale * (p_k - [k = label])
//   binary_cross_entropy   sum over k of max(z,0) - z t + log1p(exp(-|z|))          scale * (sigmoid(z) - t)
//   squared_error          sum over k of 0.5 (z - t)^2                              scale * (z - t)
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

enum class Loss { cross_entropy, binary_cross_entropy, squared_error };

constexpr Described describe(Loss loss) {
  switch (loss) {
    case Loss::cross_entropy:
      return {"cross-entropy", "of the softmax of the outputs; a final softmax layer is folded in"};
    case Loss::binary_cross_entropy:
      return {"binary-cross-entropy", "summed over the outputs; the network ends in sigmoid"};
    case Loss::squared_error:
      return {"squared-error", "half the sum of squares"};
  }
  return {};
}

/// The targets of a chunk: class labels, or a matrix of real values [outputs, samples] where `labels` is null.
template <class T>
struct LossTargets {
  const std::int32_t* labels = nullptr;
  ConstMatrix<T> values;
};

template <class T>
struct LossGradient {
  Loss kind;
  T scale;  // 1 / (sum of the batch's weights) for a mean over samples, 1 for a sum; a weight is 1 where none are given
  ConstMatrix<T> z;
  LossTargets<T> targets;
  const T* weights = nullptr;  // [samples]; null: none
  T* loss;                     // [samples]
  Matrix<T> dz;                // empty: only the loss is wanted
};

/// What training reports of a chunk, per slot: the sum of its losses and how many predictions are right.
///   sum[slot] = a chain over the slot's samples of double(loss), ascending, from 0; 0 for an empty slot
///   correct[slot] = samples whose predicted class is their label; 0 where there are no labels
/// The predicted class is the largest output, the first of equal ones; with one output it is 1 from the middle on (0
/// for a logit, 0.5 for a value trained by squared error).
template <class T>
struct ScoreSlots {
  Loss kind;
  ConstMatrix<T> z;                      // the network's output
  const std::int32_t* labels = nullptr;  // [samples] or null: targets are numbers
  const T* loss;                         // [samples]
  Slots slots;
  double* sum;            // [slots]
  std::int64_t* correct;  // [slots]
};

constexpr Cost loss_cost(std::int64_t outputs, std::int64_t samples, std::size_t scalar) {
  const double n = double(outputs) * double(samples);
  return {.flops = 14 * n, .bytes = double(scalar) * 2 * n};
}

}  // namespace lockstep
