#pragma once
// A run as the user describes it: a TOML file with the sections [data], [model], [train], [checkpoint], [log],
// [guard] and [parallel], and the changes that --set makes to it. The first three determine the trained weights; what
// does not change them (backend, output folder) is an option of the command line instead, save how often the run is
// saved and how its ranks share the work.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lockstep/data/source.hpp"
#include "lockstep/nn/network.hpp"
#include "lockstep/train/trainer.hpp"

namespace lockstep {

struct ModelConfig {
  Shape input;
  std::vector<LayerSpec> layers;
  Precision precision = Precision::float32;
  Init init{};
  std::vector<std::string> layer_origins{};  // how messages begin: "moons.toml:12: model.layers[2]"; may be empty
  std::string
      init_file{};  // not empty: the weights come from here (.safetensors, .npz, .mat or .onnx) instead of `init`
  /// Not empty: of that file only these layers, {"conv1", "0"}: its name there, and the layer here that gets it.
  std::vector<std::pair<std::string, std::string>> init_map{};
};

/// When a run is saved on its way; at its end and at a signal it always is.
struct CheckpointConfig {
  std::int64_t every_steps = 0;  // 0: steps do not count
  double every_minutes = 1;      // 0: time does not count
  std::int64_t keep = 2;         // how many checkpoints stay; 0: all
};

/// What a run writes besides its own files.
struct LogConfig {
  bool tensorboard = false;
};

struct RunConfig {
  std::string name{};  // of the file, for messages: "examples/moons.toml"
  DataConfig data{};
  ModelConfig model{};
  TrainOptions train{};  // train.seed also draws the initial weights; train.backend is not part of the file
  std::int64_t epochs = 1;
  CheckpointConfig checkpoint{};
  LogConfig log{};
};

/// Parses a configuration, then applies `overrides` ("section.key=value"). Every fault is Error(usage), one line:
///   moons.toml:12: train.epoch: unknown key; did you mean train.epochs?
/// Relative paths of [data] are looked for beside the file `name` first, then in the current directory. Layers are
/// checked for themselves, not yet against each other.
RunConfig parse_config(std::string_view toml_text, std::string_view name,
                       const std::vector<std::string>& overrides = {});

/// Reads the file and parses it; Error(usage) when it cannot be read. Where the file has no model.input, the shape of
/// the samples is taken: the data are opened, unless rank 0 alone reads them (data.from).
RunConfig load_config(const std::string& path, const std::vector<std::string>& overrides = {});

/// The [data] section alone, from its source and changes to it ("data.limit=100").
DataConfig make_data_config(const std::string& source, const std::vector<std::string>& overrides);

/// The configuration with every default written out, as TOML. Parses back to the same configuration: the same run.
std::string resolved_toml(const RunConfig& config);

/// The first value in which two resolved configurations describe different trainings: [checkpoint], [log],
/// [guard] and [parallel] may differ, and the second may have more train.epochs, unless its schedule depends on their
/// number (cosine, one-cycle).
struct ConfigDifference {
  std::string key;            // "train.optimizer.lr"
  std::string first, second;  // as TOML; "nothing" where the key is absent
};
std::optional<ConfigDifference> find_difference(std::string_view first_toml, std::string_view second_toml);

/// How a message begins of a network that does not go with train.loss: with the line of its last layer.
std::string misfit_origin(const RunConfig& config);

/// The network of the configuration with its initial weights (or those of model.init_file). Error(usage) names the
/// layer that does not fit.
Network make_network(const RunConfig& config);

}  // namespace lockstep
