#include "cli/model_data.hpp"

#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/run_directory.hpp"
#include "lockstep/config/config.hpp"
#include "lockstep/core/error.hpp"

namespace lockstep::cli {

namespace {

DataConfig config_of(const std::string& model_path, const DataArguments& arguments) {
  if (!arguments.data.empty()) return make_data_config(arguments.data, arguments.set);
  if (!arguments.config.empty()) return load_config(arguments.config, arguments.set).data;
  const std::filesystem::path beside = std::filesystem::path(model_path).replace_filename(kConfigFile);
  std::error_code ignored;
  if (std::filesystem::exists(beside, ignored)) return load_config(beside.string(), arguments.set).data;
  throw Error(ExitCode::usage,
              fmt::format("{}: there is no {} beside it; say which data with --data SOURCE or --config FILE",
                          model_path, kConfigFile));
}

Scaling times(const Scaling& scaling, std::int64_t features, double factor) {
  std::vector<double> scale, offset;
  for (std::int64_t f = 0; f < features; ++f) {
    scale.push_back(scaling.scale(f) * factor);
    offset.push_back(scaling.offset(f));
  }
  return {std::move(scale), std::move(offset)};
}

/// Other data than the model's own may hold bytes where that held fractions, or the reverse.
DataSplits load_scaled(const DataConfig& config, const ModelInfo& info) {
  const std::optional<Scaling> scaling = scaling_of(info);
  DataSplits splits = load_data(config, scaling, DataUse::evaluation);
  const double white = white_of(splits.source_type);
  if (!scaling || white == info.white) return splits;
  return load_data(config, times(*scaling, splits.train->features(), info.white / white), DataUse::evaluation);
}

}  // namespace

double white_of(ElementType source_type) { return source_type == ElementType::uint8 ? 255 : 1; }

std::optional<Scaling> scaling_of(const ModelInfo& info) {
  if (info.scale.empty()) return std::nullopt;
  if (info.scale.size() == 1) return Scaling(info.scale[0], info.offset[0]);
  return Scaling(info.scale, info.offset);
}

void describe_data(const DataConfig& config, const DataSplits& splits, ModelInfo& info) {
  info.source = config.source;
  info.transposed = config.transpose;
  info.class_names = splits.class_names;
  info.white = white_of(splits.source_type);
  const std::int64_t features = splits.train->features();
  const bool one_pair = splits.scaling.fits(features + 1);
  for (std::int64_t f = 0; f < (one_pair ? 1 : features); ++f) {
    info.scale.push_back(splits.scaling.scale(f));
    info.offset.push_back(splits.scaling.offset(f));
  }
}

ModelData load_model_data(const std::string& model_path, const ModelInfo& info, const DataArguments& arguments) {
  const DataConfig config = config_of(model_path, arguments);
  const DataSplits splits = load_scaled(config, info);
  const std::pair<const char*, std::shared_ptr<const Dataset>> parts[] = {
      {"test", splits.test}, {"validation", splits.validation}, {"train", splits.train}};
  std::vector<std::string> present;
  for (const auto& [name, part] : parts) {
    if (part == nullptr) continue;
    if (arguments.split.empty() || arguments.split == name) return {part, name, config.source};
    present.emplace_back(name);
  }
  throw Error(ExitCode::usage, fmt::format("--split {}: the data has no such part; it has {}", arguments.split,
                                           fmt::join(present, ", ")));
}

}  // namespace lockstep::cli
