#pragma once
// Where a training stands between two steps, and what it reports.

#include <cstdint>
#include <memory>
#include <vector>

#include "lockstep/data/batches.hpp"
#include "lockstep/train/batch.hpp"

namespace lockstep {

struct Progress {
  std::int64_t epoch = 0, steps = 0;  // epochs done, and the steps in them
  std::int64_t batch = 0;             // batches done of the present epoch; report and loss_sum are their sums
  double loss_sum = 0, weight_sum = 0;
  std::optional<double> first_loss{};  // of the training's first batch
  Watch stopping{}, plateau{};         // TrainingState
  std::int64_t rate_drops = 0;
  std::int64_t averaged = 0;
  EpochReport report{};
  std::vector<EpochReport> reports{};  // of the present fit
  std::unique_ptr<Batches> batches{};  // of the present epoch

  /// Learning rate of a step, in a training of `total_steps`.
  double rate_at(const TrainOptions& options, std::int64_t step, std::int64_t total_steps) const;

  /// Error(checkpoint) where this data has no such epoch.
  /// `weights`: null: every sample counts 1.
  void begin_epoch(const TrainOptions& options, const Dataset& data, const SampleWeights* weights);
  /// Adds a finished step of a fit to the report, and calls on_step. Error(diverged) where the loss is not finite, or
  /// `finite` says so of the weights.
  void account(const Batch& batch, const StepResult& result, bool finite, std::int64_t total_epochs);
  /// The counts of an epoch whose last batch was accounted for; the rest of the report is the caller's. `finite`: every
  /// weight is; else Error(diverged).
  void end_epoch(bool finite);
  /// After the validation of an epoch: early stopping, and the drops of the schedule `plateau`.
  void watch(const TrainOptions& options);
  /// Whether early stopping has ended the training.
  bool stopped(const TrainOptions& options) const;
  /// Adds the times of the other ranks to the complete report, and calls on_epoch. Collective.
  void hand_out_report(Ranks& ranks, const FitOptions& fit_options);

  /// The part of a state that is not a vector; Error(checkpoint) where it makes no sense.
  TrainingState counts() const;
  static void check(const TrainingState& state);
  void restore(const TrainingState& state);
};

/// The vectors of a state.
template <class T>
struct StateVectors {
  AlignedBuffer<T> parameters, first, second, average;
};

/// Error(checkpoint) when they belong to another network or optimiser.
template <class T>
StateVectors<T> vectors_of(const TrainingState& state, const Network& network, const OptimizerSpec& optimizer);

/// TrainingState::carried; Error(checkpoint) when it has another precision.
template <class T>
AlignedBuffer<T> carried_of(const TrainingState& state);

/// The sections of a profile: "3 conv2d" for each layer, at the places that forward_section and backward_section give.
std::vector<SectionName> sections_of(const Network& network);

}  // namespace lockstep
