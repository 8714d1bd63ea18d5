#pragma once
// A run as the user describes it: a TOML file with the sections [data], [model] and [train], and the changes that
// --set makes to it. What it holds determines the trained weights; what does not change them (backend, output
// folder) is an option of the command line instead.

#include <cstdint>
#include <string>
#include <string_view>
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
  std::string init_file{};  // not empty: the weights come from here (.safetensors, .npz or .mat) instead of `init`
};

struct RunConfig {
  std::string name{};  // of the file, for messages: "examples/moons.toml"
  DataConfig data{};
  ModelConfig model{};
  TrainOptions train{};  // train.seed also draws the initial weights; train.backend is not part of the file
  std::int64_t epochs = 1;
};

/// Parses a configuration, then applies `overrides` ("section.key=value"). Every fault is Error(usage), one line:
///   moons.toml:12: train.epoch: unknown key; did you mean train.epochs?
/// Paths in it are relative to the current directory. Layers are checked for themselves, not yet against each other.
RunConfig parse_config(std::string_view toml_text, std::string_view name,
                       const std::vector<std::string>& overrides = {});

/// Reads the file and parses it; Error(usage) when it cannot be read.
RunConfig load_config(const std::string& path, const std::vector<std::string>& overrides = {});

/// The [data] section alone, from its source and changes to it ("data.limit=100").
DataConfig make_data_config(const std::string& source, const std::vector<std::string>& overrides);

/// The configuration with every default written out, as TOML. Parses back to the same configuration: the same run.
std::string resolved_toml(const RunConfig& config);

/// The network of the configuration with its initial weights (or those of model.init_file). Error(usage) names the
/// layer that does not fit.
Network make_network(const RunConfig& config);

}  // namespace lockstep
