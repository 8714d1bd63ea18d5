#pragma once
// Saves a run on its way: decides when, copies the state, and lets a thread of its own do the rest.

#include <chrono>
#include <cstdint>
#include <string>

#include "lockstep/config/config.hpp"
#include "lockstep/data/source.hpp"
#include "lockstep/model/checkpoint_store.hpp"
#include "lockstep/model/checkpoint_writer.hpp"
#include "lockstep/model/model_info.hpp"
#include "lockstep/run/directory.hpp"
#include "lockstep/train/trainer.hpp"

namespace lockstep {

/// What a checkpoint is made from besides the state; all of it must outlive the checkpoints and stay as it is.
struct CheckpointSources {
  const RunDirectory& directory;
  const RunConfig& config;
  const Network& network;  // its layers
  const ModelInfo& info;
  const DataSplits& data;
  const LineFile& metrics;
  const LineFile& timings;
};

class RunCheckpoints {
 public:
  /// `steps`: done already. `digest`: of the data; empty: computed when the first checkpoint needs it.
  RunCheckpoints(const CheckpointSources& sources, std::int64_t steps, std::string digest);

  /// Whether it is time to save after the step that makes so many, and the last save is done; else a later step will
  /// be asked. Throws what the last save threw.
  bool is_due(std::int64_t steps);
  /// Starts to save where the trainer stands, in on_step.
  void start(const Trainer& trainer);

  /// Saves where the trainer stands and returns when it is on the disk; its name.
  std::string save(const Trainer& trainer);

 private:
  using Clock = std::chrono::steady_clock;

  Snapshot snapshot(const Trainer& trainer) const;
  void write(const Snapshot& snapshot);

  CheckpointSources sources_;
  CheckpointStore store_;
  std::string config_;  // resolved
  std::int64_t saved_steps_;
  Clock::time_point saved_at_ = Clock::now();
  std::string digest_;  // by the writer's thread once it runs
  CheckpointWriter writer_;
};

}  // namespace lockstep
