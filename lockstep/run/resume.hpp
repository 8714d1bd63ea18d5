#pragma once
// Saving a run while it trains, and resuming it: when to save; which checkpoint to go on from, whether it belongs to
// the requested run, and which lines of its files stay.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "lockstep/config/config.hpp"
#include "lockstep/data/source.hpp"
#include "lockstep/model/checkpoint.hpp"
#include "lockstep/model/checkpoint_store.hpp"
#include "lockstep/model/model_file.hpp"
#include "lockstep/run/directory.hpp"
#include "lockstep/run/observer.hpp"
#include "lockstep/train/trainer.hpp"

namespace lockstep {

/// The command line of the program that continues the run in this directory.
std::string resume_command(const std::filesystem::path& directory);

/// The newest valid checkpoint of the folder; a warning names each damaged one that is skipped. Nothing, with a note,
/// when there is no checkpoint (a new folder, or a run that was killed before its first one). Error(checkpoint) when
/// all are damaged, or when it belongs to another configuration or numerics version, with both values.
std::optional<Checkpoint> find_checkpoint(const RunDirectory& directory, const RunConfig& config,
                                          RunObserver& observer);

/// Error(checkpoint) when the checkpoint was made with other data; else the digest of this data.
std::string check_same_data(const Checkpoint& checkpoint, const RunDirectory& directory, const DataSplits& data);

/// The part of the growing files that a checkpoint vouches for.
struct KeptLines {
  std::int64_t metrics_bytes = 0, timings_bytes = 0;
  std::optional<EpochReport> last{};  // of the last complete epoch
};

/// Error(checkpoint) when metrics.jsonl does not begin with what it was when the checkpoint was made.
KeptLines check_lines(const Checkpoint& checkpoint, const RunDirectory& directory);

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

/// Decides when to save, copies the state, and leaves writing to a separate thread.
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

  /// Of the data; after a save.
  const std::string& digest() const { return digest_; }

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
