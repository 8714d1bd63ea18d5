#pragma once
// A checkpoint: one file from which a training goes on to the same bits, on any number of threads. It is a model file
// (model_file.hpp), so whatever takes a model takes a checkpoint, with more in it:
//   tensors   the weights under their usual names
//             optimizer.first, optimizer.second   [trainable parameters], where the optimiser has such vectors
//             optimizer.average   [parameters], where weights are averaged
//             checkpoint.carried   the states of recurrent layers between two windows (train.truncate)
//             checkpoint.sha256                   U8 [32], the last 32 bytes of the file: SHA-256 of all before them
//   metadata  lockstep.config       the resolved configuration of the run, TOML
//             lockstep.checkpoint   JSON:
//     {"step": 1200, "epoch": 1, "batch": 262,                                    where training stands
//      "samples": 16768, "correct": 14002, "loss_sum": "<bits>", "rate": "<bits>",  sums of the present epoch
//      "first_loss": "<bits>",                                                     of the first batch (where known)
//      "stopping": {"epoch": 3, "best": "<bits>"}, "plateau": {..., "drops": 1},           what is watched (where it
//      is) "data_sha256": "...", "metrics": {"bytes": 412, "sha256": "..."}, "timings_bytes": 300, "tensors":
//      {"0.weight": "<SHA-256 of its bytes in the file>", ...}}
// <bits>: 16 hexadecimal digits, the IEEE representation. So every flipped bit and every missing byte is noticed, and
// the hashes of the tensors say which one is damaged. The bytes are a pure function of the arguments.

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lockstep/data/source.hpp"
#include "lockstep/model/model_file.hpp"
#include "lockstep/nn/network.hpp"
#include "lockstep/train/trainer.hpp"

namespace lockstep {

/// What a checkpoint says about the run besides network and state.
struct RunRecord {
  std::string config{};       // resolved TOML
  std::string data_digest{};  // data_digest()
  std::int64_t metrics_bytes = 0;
  std::string metrics_sha256{};  // of the first metrics_bytes bytes of metrics.jsonl
  std::int64_t timings_bytes = 0;

  friend bool operator==(const RunRecord&, const RunRecord&) = default;
};

struct Checkpoint {
  Model model;  // its network has the parameters of `state`
  TrainingState state{};
  RunRecord run{};
};

/// `network` gives the layers; the parameters are those of `state`.
std::vector<std::byte> write_checkpoint(const Network& network, const ModelInfo& info, const TrainingState& state,
                                        const RunRecord& run);

/// Error(checkpoint), "<name>: ...", for everything but the whole, unchanged bytes of a checkpoint; where the header is
/// legible it names the tensor that is damaged.
Checkpoint parse_checkpoint(std::span<const std::byte> bytes, std::string_view name);

/// Whether the metadata are those of a checkpoint.
bool is_checkpoint(const std::map<std::string, std::string>& metadata);

/// A fingerprint of the data a run trains on: resuming with other samples would be another run.
/// SHA-256, in hex, over the samples of training, validation and test in the order of their ids: for each part whether
/// it is there, its size, shape, classes and target size, then block by block the features (Dataset::hash_features: as
/// they are stored, and how they are scaled), the labels, and the targets and
/// (where there are any) the weights in float64. It reads every sample, at the
/// speed of SHA-256 over their bytes in memory: 0.04 s for Fashion-MNIST where the processor has instructions for it.
std::string data_digest(const DataSplits& data);

}  // namespace lockstep
