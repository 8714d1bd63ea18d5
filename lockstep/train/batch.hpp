#pragma once
// One batch, and what a step makes of it.

#include <cstdint>
#include <span>

#include "lockstep/kernels/cost.hpp"
#include "lockstep/train/trainer.hpp"

namespace lockstep {

/// One batch, as all members see it.
struct Batch {
  const Dataset& data;
  std::span<const std::int64_t> ids;
  std::int64_t epoch = 0, step = 0;  // from 0, since the beginning of training
  double rate = 0;
  std::int64_t window = 0;                 // of the sequences, from 0
  std::span<const std::int64_t> next{};    // samples of the next batch; empty: unknown
  const FitOptions* fit = nullptr;         // null: a single step or gradient
  const SampleWeights* weights = nullptr;  // null: every sample counts 1
  double weight = 0;                       // the sum of them; the number of samples where there are none

  /// The states of recurrent layers are wanted for the next window.
  bool goes_on() const { return window + 1 < data.windows(); }
  std::int64_t size() const { return static_cast<std::int64_t>(ids.size()); }
  /// This rank's requests for the step.
  StepRequests requests() const { return fit != nullptr && fit->requests ? fit->requests(step + 1) : StepRequests{}; }
  /// Null: not profiling.
  Recorder* recorder(int member) const {
    return fit != nullptr && fit->profile != nullptr ? &fit->profile->recorder(member) : nullptr;
  }
  /// Ends a span of the profile.
  void close(int member, std::int32_t section, Cost cost = {}) const {
    if (Recorder* own = recorder(member)) own->close(section, cost.flops, cost.bytes);
  }
};

/// The factor of a sample's loss in the gradient of a batch.
template <class T>
T loss_scale(Reduction reduction, const Batch& batch) {
  if (reduction == Reduction::sum) return T(1);
  return batch.weight > 0 ? T(1) / T(batch.weight) : T(0);
}

/// Sums over the samples of a batch.
struct BatchScores {
  double loss = 0;  // weighted
  std::int64_t correct = 0;
};

/// The mean loss of samples with this sum of losses and of weights.
inline double mean_loss(double loss_sum, double weight) { return weight > 0 ? loss_sum / weight : 0; }

/// What member 0 knows after a step.
struct StepResult {
  BatchScores scores{};
  StepRequests requests{};  // of all ranks
};

}  // namespace lockstep
