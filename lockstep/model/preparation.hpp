#pragma once
// Samples for a trained model, prepared as those it was trained on: the model file says how (ModelInfo), and this is
// the one place that applies it, for eval, predict and Predictor.
//
//   const Model model = load_model("model.safetensors");
//   const DataSplits data = load_data_for(model.info, {.source = "new.csv"});

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "lockstep/data/memory_dataset.hpp"
#include "lockstep/data/source.hpp"
#include "lockstep/model/model_file.hpp"
#include "lockstep/model/predictor.hpp"

namespace lockstep {

/// Enters into `info` what `config` and its splits say: the keys of the preparation, the scaling, class names.
void describe_data(const DataConfig& config, const DataSplits& splits, ModelInfo& info);

/// How the model's raw samples become inputs; nothing when the file does not say.
std::optional<Scaling> scaling_of(const ModelInfo& info);

/// The same for samples of another source, of this type and white (white_of): where one of the two holds bytes and the
/// other fractions of white, they are brought together; all other numbers are taken as they are.
std::optional<Scaling> scaling_for(const ModelInfo& info, ElementType source_type, double white, std::int64_t features);

struct PreparationOptions {
  /// Keys that the user has set, even to their defaults: they override those of training.
  std::set<std::string> chosen{};
  /// Gets a line for every key that is applied from training or overridden. Null: not reported.
  std::function<void(const std::string&)> note{};
  /// evaluation, or prediction: labels may be absent.
  DataUse use = DataUse::evaluation;
};

/// The settings of `asked`, with those of training for every key of the preparation that is not chosen and has its
/// default.
DataConfig complete_config(const ModelInfo& info, const DataConfig& asked, const PreparationOptions& options = {});

/// load_data with that configuration and scaling_for the source, unless data.scale or data.standardise are overridden.
DataSplits load_data_for(const ModelInfo& info, const DataConfig& asked, const PreparationOptions& options = {});

/// Whole samples as the source of training held them (info.source_shape, whatever the dims of `raw`), with the
/// data.shape, layout, transpose and resize of training applied; not yet scaled.
std::shared_ptr<const StoredDataset> arrange_as_trained(const ModelInfo& info, Array raw, std::string_view name);

}  // namespace lockstep
