#pragma once
// The JSON of a checkpoint's metadata; what it looks like stands in checkpoint.hpp. Internal to this folder.

#include <map>
#include <string>

#include "lockstep/model/checkpoint.hpp"

namespace lockstep {

/// SHA-256 of tensors by name, in hex.
using TensorHashes = std::map<std::string, std::string>;

std::string record_to_json(const TrainingState& state, const RunRecord& run, const TensorHashes& hashes);

/// The inverse, without the arrays of the state and the configuration of the run. Error(checkpoint) names the member
/// that is missing or wrong.
struct CheckpointRecord {
  TrainingState state{};
  RunRecord run{};
  TensorHashes hashes{};
};
CheckpointRecord record_from_json(const std::string& text, const char* name);

}  // namespace lockstep
