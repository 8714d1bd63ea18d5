#pragma once
// Saves a run while it trains: decides when, copies the state, and leaves writing to a separate thread.

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

/// The parts of a checkpoint besides the state; all of them must outlive the checkpoints, unchanged.
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

  /// Whether to save after step `steps`: a save is due and the last one is finished. Throws the error of the last save.
  bool is_due(std::int64_t steps);
  /// Starts to save the present state; to be called in on_step.
  void start(const Trainer& trainer);

  /// Saves the present state; returns the name of the file once it is on the disk.
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
