#pragma once
// The seam of a training. The Loop (loop.hpp) decides which batch comes next, when to validate, to report, to save and
// to stop; an Executor computes. There are two: the threads of this process (thread_executor.hpp), with pipelines and
// split layers, and a device (device_executor.hpp).
//
// The loop is one program that every member of a team runs (SPMD). The team of a ThreadExecutor are its threads; that
// of a DeviceExecutor is one thread. What takes a Member is called by all members, once each; everything else by one
// thread, before the team starts, after it has ended, or by member 0 while no other member can pass the next barrier.

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "lockstep/distribute/rank_grid.hpp"
#include "lockstep/distribute/stage.hpp"
#include "lockstep/parallel/team.hpp"
#include "lockstep/train/batch.hpp"
#include "lockstep/train/guard.hpp"

namespace lockstep {

/// What is trained, and this rank's part of it.
struct TrainingSetup {
  TrainingSetup(Network& network, const TrainOptions& options, Ranks& ranks);
  TrainingSetup(const TrainingSetup&) = delete;
  TrainingSetup& operator=(const TrainingSetup&) = delete;

  Network& network;
  TrainOptions options;              // threads: resolved
  Ranks& ranks;                      // all of them
  std::int64_t state_rows = 0;       // numbers per sample that windows carry on
  std::vector<Stage> whole_parts{};  // with TrainOptions::truncate: for whole sequences
  std::vector<Stage> parts;          // of the network, by rank; with TrainOptions::truncate for the steps of a window
  RankGrid grid;
  const Stage& stage;  // this rank's part
  /// Of the data that was prepared last; null: every sample counts 1.
  std::unique_ptr<const SampleWeights> weights{};
  std::unique_ptr<Guard> guard{};  // null: nothing is computed twice

  /// This rank's part in evaluations, which see whole sequences.
  const Stage& scored_stage() const {
    return whole_parts.empty() ? stage : whole_parts[static_cast<std::size_t>(&stage - parts.data())];
  }
  /// Slots of every batch of this data.
  std::int64_t slots_for(const Dataset& data) const;
  std::int64_t batch_for(const Dataset& data) const {
    return options.batch > 0 ? options.batch : data.size() / data.windows();
  }
  /// A layer needs sums over the whole batch: a worker runs all of its slots, an aligned power of two, at once.
  bool needs_whole_batch() const { return batch_wide_layers(stage.plans) > 0; }
  /// Every batch of a fit has the same samples in the same order, and they stay as they are.
  bool repeats_one_batch(const Dataset& data) const {
    return !options.shuffle && batch_for(data) >= data.size() && data.windows() == 1 && data.for_epoch(0) == nullptr;
  }

 private:
  std::vector<Stage> cut_for_training();
};

enum class Collect { weights, state };

class Executor {
 public:
  virtual ~Executor() = default;

  /// Threads of the team.
  virtual int members() const = 0;
  /// Threads of the team that take steps, after prepare: the first of them. The others would only wait.
  virtual int step_members() const { return members(); }
  /// The same before prepare, for this data: without asking other ranks.
  virtual int step_members_for(const Dataset& /*data*/) const { return members(); }
  /// The same for an evaluation of this data.
  virtual int score_members(const Dataset& /*data*/) const { return members(); }

  /// Slots, chunks and weights for batches of this data. The user may have changed the weights since the last call.
  virtual void prepare(const Dataset& data) = 0;
  /// The steps from here to end_fit are those of one fit. `profile` has begun; null: not profiling.
  virtual void begin_fit(const Dataset& data, Profile* profile) = 0;
  /// `complete`: false where an exception ends the fit. The network has the weights of the last step then.
  virtual void end_fit(bool complete) = 0;

  /// The next batch has a window that is not the first of its sequences: the states that were restored, or those of
  /// the last step, are carried on. Error(checkpoint) where they are not those of `samples` sequences.
  virtual void resume_window(std::int64_t window, std::int64_t samples) = 0;

  /// Forward, loss, backward, the tree over slots, the optimiser's step. By the first step_members() members, which
  /// are a team of their own. Only member 0 gets the result.
  virtual StepResult train_batch(const Member& member, const Batch& batch) = 0;
  /// Scores of this member's share of the blocks (scores.hpp), with the weights of the moment. Returns what it cost.
  virtual Cost score(const Member& member, const Dataset& data, SlotScores& blocks) = 0;

  /// Trainer::gradient.
  virtual std::vector<double> gradient(const Batch& batch) = 0;
  /// Rank 0's network gets the weights of all ranks, and with Collect::state save() is complete on rank 0. Returns
  /// whether every weight and running statistic is finite: the same on all ranks.
  virtual bool collect(Collect what) = 0;
  /// Adds the weights of the moment to their average, with this share. By member 0 after a step.
  virtual void average(double share) = 0;
  /// Weights and average change places; collective.
  virtual void swap_average() = 0;
  /// Trainer::penalty.
  virtual double penalty() = 0;
  /// Times since the last call: means over members.
  virtual PhaseTimes take_times() = 0;
  /// The vectors of a state. restore: Error(checkpoint) where they do not fit, and nothing is changed then.
  virtual void save(TrainingState& state) const = 0;
  virtual void restore(const TrainingState& state) = 0;
};

}  // namespace lockstep
