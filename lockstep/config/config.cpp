#include "lockstep/config/config.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lockstep/config/overrides.hpp"
#include "lockstep/config/sections.hpp"
#include "lockstep/config/suggest.hpp"
#include "lockstep/config/toml.hpp"
#include "lockstep/config/toml_guard.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/file.hpp"

namespace lockstep {

namespace {

/// A section that is not there is empty: what it must hold is reported as missing.
const Value& section(const Value& root, std::string_view name, const Value& empty) {
  const Value* found = root.find(name);
  return found != nullptr ? *found : empty;
}

void check_sections(const Value& root) {
  static const std::vector<std::string> kSections = {"data", "model", "train", "checkpoint", "parallel"};
  for (const Entry& entry : *root.table()) {
    if (std::find(kSections.begin(), kSections.end(), entry.key) != kSections.end()) continue;
    if (const auto near = nearest(entry.key, kSections))
      fail_at(entry.value, entry.key, fmt::format("unknown section; did you mean {}?", *near));
    for (const std::string& key : all_keys())
      if (key.ends_with("." + entry.key))
        fail_at(entry.value, entry.key, fmt::format("stands outside the sections; did you mean {}?", key));
    fail_at(entry.value, entry.key, "unknown section; a configuration has data, model, train, checkpoint, parallel");
  }
}

}  // namespace

const std::vector<std::string>& all_keys() {
  static const std::vector<std::string> keys = [] {
    std::vector<std::string> all;
    for (const std::string& key : data_keys()) all.push_back("data." + key);
    for (const std::string& key : model_keys()) all.push_back("model." + key);
    for (const std::string& key : train_keys()) all.push_back("train." + key);
    for (const std::string& key : checkpoint_keys()) all.push_back("checkpoint." + key);
    for (const std::string& key : parallel_keys()) all.push_back("parallel." + key);
    return all;
  }();
  return keys;
}

RunConfig parse_config(std::string_view toml_text, std::string_view name, const std::vector<std::string>& overrides) {
  Value root = parse_toml(toml_text, name);
  apply_overrides(root, overrides);
  check_sections(root);
  const Value empty{ValueTable{}, std::string(name)};
  RunConfig config;
  config.name = name;
  config.data = read_data(section(root, "data", empty));
  config.model = read_model(section(root, "model", empty));
  read_train(section(root, "train", empty), config);
  read_checkpoint(section(root, "checkpoint", empty), config.checkpoint);
  read_parallel(section(root, "parallel", empty), config.train.parallel);
  return config;
}

DataConfig make_data_config(const std::string& source, const std::vector<std::string>& overrides) {
  Value root{ValueTable{{"data", Value{ValueTable{{"source", Value{source, "--data"}}}, "--data"}}}, "--data"};
  apply_overrides(root, overrides);
  if (root.table()->size() != 1)
    throw Error(ExitCode::usage, "--set: only keys of data can be set here, for example --set data.limit=100");
  return read_data(*root.find("data"));
}

RunConfig load_config(const std::string& path, const std::vector<std::string>& overrides) {
  return parse_config(read_text(path, kMaxConfigBytes, ExitCode::usage), path, overrides);
}

}  // namespace lockstep
