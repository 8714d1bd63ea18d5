#pragma once
// The data that a model is looked at with, scaled as the data it was trained on.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/console.hpp"
#include "lockstep/data/source.hpp"
#include "lockstep/train/model_file.hpp"

namespace lockstep::cli {

/// Where the samples come from: --data SOURCE, --config FILE, or config.toml beside the model.
struct DataArguments {
  std::string data{}, config{};
  std::vector<std::string> set{};
  std::string split{};  // train, validation, test; empty: the last of them that there is
};

struct ModelData {
  std::shared_ptr<const Dataset> samples;
  std::string split;
  std::string source;
};

/// Error(usage) when nothing says what the data is, or it has no such split.
ModelData load_model_data(const std::string& model_path, const ModelInfo& info, const DataArguments& arguments);

/// The number of a white pixel in a source: 255 where it holds bytes, else 1.
double white_of(ElementType source_type);

/// How the model's raw samples become inputs; nothing when the file does not say.
std::optional<Scaling> scaling_of(const ModelInfo& info);

/// What a model file says about the data: the inverse of scaling_of.
void describe_data(const DataConfig& config, const DataSplits& splits, ModelInfo& info);

}  // namespace lockstep::cli
