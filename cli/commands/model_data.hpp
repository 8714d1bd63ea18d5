#pragma once
// A model from a file, and data for it, prepared as those it was trained on (lockstep/model/preparation.hpp).

#include <memory>
#include <string>
#include <vector>

#include "cli/command_line/options.hpp"
#include "lockstep/data/source.hpp"
#include "lockstep/model/model_file.hpp"

namespace lockstep::cli {

/// Where the samples come from: --data SOURCE, --config FILE, or config.toml beside the model.
struct DataArguments {
  std::string data{}, config{};
  std::vector<std::string> set{};
  std::string split{};  // train, validation, test; empty: the last of them that there is
};

/// --data, --config, --split, --set.
void add_data_options(Options& options, DataArguments& data);

struct ModelData {
  std::shared_ptr<const Dataset> samples;
  std::string split;
  std::string source;
};

/// The file of a model: `path`, or model.safetensors in it where it is a run directory.
std::string model_file(const std::string& path);

/// load_model of model_file(path), with a note when the file, or a part of it, cannot be verified.
Model open_model(const std::string& path, Console& console);

/// model_path: as for open_model. Notes the settings that come from the model file or override it. Error(usage) when nothing says what
/// the data is, or it has no such split.
ModelData load_model_data(const std::string& model_path, const Model& model, const DataArguments& arguments,
                          Console& console, DataUse use);

}  // namespace lockstep::cli
