#include "cli/commands/model_data.hpp"

#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lockstep/config/config.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/model/preparation.hpp"
#include "lockstep/run/directory.hpp"

namespace lockstep::cli {

std::string model_file(const std::string& path) {
  std::error_code ignored;
  const std::filesystem::path inside = std::filesystem::path(path) / kModelFile;
  return std::filesystem::is_regular_file(inside, ignored) ? inside.string() : path;
}

namespace {

DataConfig config_of(const std::string& model_path, const DataArguments& arguments) {
  if (!arguments.data.empty()) return make_data_config(arguments.data, arguments.set);
  if (!arguments.config.empty()) return load_config(arguments.config, arguments.set).data;
  const std::filesystem::path beside = std::filesystem::path(model_file(model_path)).replace_filename(kConfigFile);
  std::error_code ignored;
  if (std::filesystem::exists(beside, ignored)) return load_config(beside.string(), arguments.set).data;
  throw Error(ErrorCode::usage,
              fmt::format("{}: there is no {} beside it; say which data with --data SOURCE or --config FILE",
                          model_path, kConfigFile));
}

/// "scale" of "data.scale=255", "resize" of "data.resize.size=20".
std::set<std::string> chosen_keys(const std::vector<std::string>& set) {
  constexpr std::string_view kSection = "data.";
  std::set<std::string> keys;
  for (const std::string& change : set)
    if (change.starts_with(kSection))
      keys.insert(change.substr(kSection.size(), change.find_first_of(".=", kSection.size()) - kSection.size()));
  return keys;
}

}  // namespace

void add_data_options(Options& options, DataArguments& data) {
  options.text("--data", data.data,
               {"SOURCE", "Which data: a name or a file, as data.source; default: config.toml beside the model"});
  options.text("--config", data.config, {"FILE.toml", "Which data: the [data] section of this configuration"});
  options.text("--split", data.split, {"PART", "train, validation or test; default: the last of them that there is"});
  options.set(data.set);
}

Model open_model(const std::string& path, Console& console) {
  const std::string file = model_file(path);
  Model model = load_model(file);
  if (const auto note = seal_note(file, model.seal)) console.note(*note);
  return model;
}

ModelData load_model_data(const std::string& model_path, const Model& model, const DataArguments& arguments,
                          Console& console, DataUse use) {
  DataConfig config = config_of(model_path, arguments);
  const auto input = model.network.input().extents();
  config.wanted_shape.assign(input.begin(), input.end());
  const DataSplits splits = load_data_for(model.info, config,
                                          {.chosen = chosen_keys(arguments.set),
                                           .note = [&](const std::string& line) { console.note(one_line(line)); },
                                           .use = use});
  const std::pair<const char*, std::shared_ptr<const Dataset>> parts[] = {
      {"test", splits.test}, {"validation", splits.validation}, {"train", splits.train}};
  std::vector<std::string> present;
  for (const auto& [name, part] : parts) {
    if (part == nullptr) continue;
    if (arguments.split.empty() || arguments.split == name) return {part, name, config.source};
    present.emplace_back(name);
  }
  throw Error(ErrorCode::usage, fmt::format("--split {}: the data has no such part; it has {}", arguments.split,
                                            fmt::join(present, ", ")));
}

}  // namespace lockstep::cli
