#pragma once
// Resuming a run: which checkpoint, whether it belongs to the requested run, and which lines of its files stay.

#include <cstdint>
#include <optional>
#include <string>

#include "lockstep/config/config.hpp"
#include "lockstep/data/source.hpp"
#include "lockstep/model/checkpoint.hpp"
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

}  // namespace lockstep
