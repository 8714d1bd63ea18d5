#pragma once
// The training loop behind Trainer: epochs, batches, validation, requests, reports and state. It computes nothing
// itself (executor.hpp), so it is the same for float and double, threads and devices, one rank and many.

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "lockstep/train/executor.hpp"
#include "lockstep/train/progress.hpp"

namespace lockstep {

class Loop {
 public:
  using MakeExecutor = std::function<std::unique_ptr<Executor>(TrainingSetup&)>;
  Loop(Network& network, const TrainOptions& options, Ranks& ranks, const MakeExecutor& make);

  // As in Trainer.
  int step_threads(const Dataset& data) const { return executor_->step_members_for(data); }
  std::vector<EpochReport> fit(const Dataset& data, const FitOptions& options);
  double step(const Dataset& data, std::span<const std::int64_t> ids);
  std::vector<double> gradient(const Dataset& data, std::span<const std::int64_t> ids);
  void check(const Dataset& data) const;
  Scores evaluate(const Dataset& data, SampleScores* samples = nullptr);
  bool stopped_early() const { return progress_.stopped(setup_.options); }
  GuardCounts guard_counts() const { return setup_.guard ? setup_.guard->counts() : GuardCounts{}; }
  double penalty() { return executor_->penalty(); }
  const TrainOptions& options() const { return setup_.options; }
  TrainingState state() const;
  TrainingState counts() const;
  void restore(const TrainingState& state);

 private:
  /// `data`: what is trained on of `given`, or windows of it.
  void prepare(const Dataset& given, const Dataset& data);
  void prepare_single(const Dataset& data);
  /// The network gets the averaged weights, where there are any (true), or those of the last step (false).
  void show_average(bool shown);
  /// A batch of the data that was prepared last; step and rate are to be set.
  Batch batch_of(const Dataset& data, std::span<const std::int64_t> ids) const;
  // By every member of the team.
  void run_epoch(const Member& member, const Dataset& data, const FitOptions& fit, std::int64_t epochs);
  void train_epoch(const Member& member, const Dataset& data, const FitOptions& fit, std::int64_t epochs);
  void take_steps(const Member& member, const Dataset& data, const FitOptions& fit, std::int64_t epochs);
  /// The samples of the next batch that this rank will gather.
  std::span<const std::int64_t> own_part(const Dataset& data, std::span<const std::int64_t> ids);
  void validate(const Member& member, const FitOptions& fit);
  // By member 0.
  void report_faults(const FitOptions& fit);
  Scores total_scores(const Dataset& data, SampleScores* samples);
  void begin_scores(const Dataset& data, bool samples);
  void end_epoch(const FitOptions& fit, double seconds, double validation_seconds);

  TrainingSetup setup_;
  std::unique_ptr<Executor> executor_;
  std::optional<Barrier> steppers_;  // of the members that take steps
  Progress progress_;                // written by member 0
  bool average_shown_ = false;
  SlotScores blocks_;  // of the present evaluation
};

}  // namespace lockstep
