#include "lockstep/config/config.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>

#include "lockstep/config/reader.hpp"
#include "lockstep/config/record_writer.hpp"
#include "lockstep/config/section_fields.hpp"
#include "lockstep/config/sections.hpp"
#include "lockstep/config/suggest.hpp"
#include "lockstep/config/toml.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/file.hpp"
#include "lockstep/data/data_fields.hpp"
#include "lockstep/model/theta.hpp"
#include "lockstep/model/weights.hpp"

namespace lockstep {

namespace {

constexpr std::int64_t kMaxElements = std::int64_t{1} << 32;

/// A relative path is looked for beside the file that names it first, then in the working directory.
void find_beside(const std::string& config, const Value& section, const char* key, std::string& path,
                 std::vector<std::string>& remarks) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(config).parent_path();
  if (path.empty() || path == "none" || path == "-" || folder.empty() || fs::path(path).is_absolute() ||
      is_named_source(path) || section.find(key)->origin.starts_with("--set"))
    return;
  std::error_code ignored;
  const fs::path beside = (folder / path).lexically_normal();
  if (!fs::exists(beside, ignored)) return;
  const bool both = fs::exists(path, ignored);
  if (both && fs::equivalent(beside, path, ignored)) return;
  remarks.push_back(fmt::format("data.{} is {}, beside {}{}", key, beside.string(), config,
                                both ? fmt::format("; {} in the working directory is another", path) : ""));
  path = beside.string();
}

/// A name that is no file and nearly the name of a data set is a misspelling.
void check_source(const Value& value, const std::string& source) {
  std::error_code ignored;
  if (is_named_source(source) || std::filesystem::exists(source, ignored)) return;
  if (const auto near = nearest(source, source_names()))
    fail_at(value, "data.source",
            fmt::format("there is no data set and no file called \"{}\"; did you mean {}?", source, *near));
}

void check_sections(const Value& root) {
  static const std::vector<std::string> kSections = {"data", "model", "train",   "checkpoint",
                                                     "log",  "guard", "parallel"};
  for (const Entry& entry : *root.table()) {
    if (std::find(kSections.begin(), kSections.end(), entry.key) != kSections.end()) continue;
    if (const auto near = nearest(entry.key, kSections))
      fail_at(entry.value, entry.key, fmt::format("unknown section; did you mean {}?", *near));
    for (const std::string& key : all_keys())
      if (key.ends_with("." + entry.key))
        fail_at(entry.value, entry.key, fmt::format("stands outside the sections; did you mean {}?", key));
    fail_at(entry.value, entry.key, fmt::format("unknown section; a configuration has {}", fmt::join(kSections, ", ")));
  }
}

std::string section_toml(std::string_view name, const std::vector<std::string>& entries) {
  return fmt::format("[{}]\n{}\n", name, fmt::join(entries, "\n"));
}

/// Where the defaults of shuffle and stratify depend on the source both are said; elsewhere absent means false.
DataConfig with_division(DataConfig data) {
  const bool says_both = !is_named_source(data.source) && data.split.any();
  const bool shuffles = data.shuffles(), stratifies = data.stratifies();
  data.shuffle = shuffles || says_both ? std::optional(shuffles) : std::nullopt;
  data.stratify = stratifies || says_both ? std::optional(stratifies) : std::nullopt;
  return data;
}

std::string init_text(const ModelConfig& model) {
  if (model.init_file.empty()) return toml_text(model.init);
  if (model.init_map.empty()) return toml_quote(model.init_file);
  std::vector<std::string> pairs;
  for (const auto& [from, to] : model.init_map)
    pairs.push_back(fmt::format("{} = {}", toml_quote(from), toml_quote(to)));
  return fmt::format("{{file = {}, map = {{{}}}}}", toml_quote(model.init_file), fmt::join(pairs, ", "));
}

std::vector<std::string> model_entries(const ModelConfig& model) {
  return {fmt::format("input = [{}]", fmt::join(model.input.extents(), ", ")),
          fmt::format("layers = {}", toml_text(model.layers, 2)),
          fmt::format("precision = {}", toml_quote(to_string(model.precision))),
          fmt::format("init = {}", init_text(model))};
}

}  // namespace

void read_value(const Value& value, const Place& place, CountOrFraction, double& out) {
  out = as_number(value, place.path, kNotNegative);
  if (out >= 1 && out != std::floor(out))
    fail_at(value, place.path, fmt::format("must be a fraction below 1 or a whole number of samples, got {}", out));
}

/// {train = 50000, validation = 10000, test = 10000} or [50000, 10000, 10000].
void read_value(const Value& value, const Place& place, AnyValue, SplitConfig& out) {
  if (const ValueArray* list = value.array()) {
    if (list->size() != 3)
      fail_at(value, place.path, fmt::format("must have 3 numbers, train, validation, test, not {}", list->size()));
    std::size_t i = 0;
    for_each_in(SplitConfig::fields(), [&](const auto& each) {
      read_value((*list)[i], {fmt::format("{}[{}]", place.path, i)}, each.range, each.of(out));
      ++i;
    });
  } else {
    read_record(value, place, "split", out);
  }
  double fractions = 0;
  for (const double part : {out.train, out.validation, out.test})
    if (part < 1) fractions += part;
  if (fractions > 1 + 1e-9)
    fail_at(value, place.path, fmt::format("the fractions must not exceed 1 together, got {}", fractions));
}

/// "balanced" or [1, 2.5, 10].
void read_value(const Value& value, const Place& place, AnyValue, ClassWeights& out) {
  if (value.string() != nullptr) {
    as_choice(value, place.path, std::vector<std::string>{kBalanced});
    out = {.balanced = true};
    return;
  }
  out = {};
  const ValueArray& list = as_array(value, place.path);
  for (std::size_t i = 0; i < list.size(); ++i)
    out.values.push_back(as_number(list[i], fmt::format("{}[{}]", place.path, i), kNotNegative));
  if (list.empty()) fail_at(value, place.path, "has no numbers; give one per class, or \"balanced\"");
  if (const std::string fault = weights_fault(out.values, "class"); !fault.empty()) fail_at(value, place.path, fault);
}

void read_value(const Value& value, const Place& place, AnyValue, std::vector<std::string>& out) {
  out.clear();
  const ValueArray& list = as_array(value, place.path);
  for (std::size_t i = 0; i < list.size(); ++i) out.push_back(as_string(list[i], fmt::format("{}[{}]", place.path, i)));
}

/// ["f1", "top-5"]
void read_value(const Value& value, const Place& place, AnyValue, std::vector<Metric>& out) {
  out.clear();
  const ValueArray& list = as_array(value, place.path);
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string path = fmt::format("{}[{}]", place.path, i);
    const std::string& name = as_string(list[i], path);
    const auto metric = metric_named(name);
    if (!metric) fail_at(list[i], path, metric_name_fault(name));
    if (std::find(out.begin(), out.end(), *metric) != out.end()) fail_at(list[i], path, "stands there twice");
    out.push_back(*metric);
  }
}

/// 10 or {patience = 10, metric = "f1"}.
void read_value(const Value& value, const Place& place, AnyValue, std::optional<EarlyStopping>& out) {
  read_record(value, place, "early_stopping", out.emplace());
}

/// 20 or {size = 20, method = "bicubic"}.
void read_value(const Value& value, const Place& place, AnyValue, ResizeConfig& out) {
  read_record(value, place, "resize", out);
}

/// {flip = true, shift = 4}.
void read_value(const Value& value, const Place& place, AnyValue, AugmentConfig& out) {
  read_record(value, place, "augment", out);
}

void read_value(const Value& value, const Place& place, AnyValue, std::vector<std::int64_t>& out) {
  const ValueArray& list = as_array(value, place.path);
  if (list.empty() || list.size() > 3) fail_at(value, place.path, "must have 1 to 3 extents, for example [1, 28, 28]");
  for (std::size_t i = 0; i < list.size(); ++i)
    out.push_back(as_integer(list[i], fmt::format("{}[{}]", place.path, i), {1, kMaxElements}));
}

/// ["age", "sex"], [0, 3], or one name.
void read_value(const Value& value, const Place& place, TextOrIndex text, std::vector<std::string>& out) {
  const ValueArray one = {value};
  const ValueArray* list = value.array() != nullptr ? value.array() : &one;
  for (std::size_t i = 0; i < list->size(); ++i)
    read_value((*list)[i], {value.array() != nullptr ? fmt::format("{}[{}]", place.path, i) : place.path}, text,
               out.emplace_back());
}

DataConfig read_data(const Value& section, const std::string& config) {
  DataConfig data;
  read_section(section, "data", data_fields(), data);
  find_beside(config, section, "source", data.source, data.remarks);
  find_beside(config, section, "test", data.test, data.remarks);
  find_beside(config, section, "labels", data.labels, data.remarks);
  find_beside(config, section, "test_labels", data.test_labels, data.remarks);
  for (const Entry& entry : *section.table()) data.places[entry.key] = entry.value.origin;
  check_source(*section.find("source"), data.source);
  return data;
}

void read_train(const Value& section, RunConfig& config) { read_section(section, "train", train_fields(), config); }

const std::vector<std::string>& all_keys() {
  static const std::vector<std::string> keys = [] {
    std::vector<std::string> all;
    const auto add = [&](const char* section, const std::vector<std::string>& names) {
      for (const std::string& name : names) all.push_back(fmt::format("{}.{}", section, name));
    };
    add("data", field_names(DataConfig{}, data_fields()));
    add("model", model_keys());
    add("train", field_names(RunConfig{}, train_fields()));
    add("checkpoint", field_names(CheckpointConfig{}, checkpoint_fields()));
    add("log", field_names(LogConfig{}, log_fields()));
    add("guard", field_names(GuardOptions{}, guard_fields()));
    add("parallel", field_names(ParallelOptions{}, parallel_fields()));
    return all;
  }();
  return keys;
}

namespace {

template <class... Kinds>
bool is_one_of(const LayerSpec& layer) {
  return (std::holds_alternative<Kinds>(layer.kind) || ...);
}

/// Of a network that ends in a linear layer, with or without an activation behind it; 0: not known from the layers
/// alone.
std::int64_t outputs_of(const std::vector<LayerSpec>& layers) {
  for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer) {
    if (const auto* linear = std::get_if<Linear>(&layer->kind)) return linear->per_step ? 0 : linear->out;
    if (!is_one_of<Relu, LeakyRelu, Tanh, AbsTanh, Sigmoid, Gelu>(*layer)) return 0;
  }
  return 0;
}

/// The loss of a network of one output where train.loss does not say it: cross-entropy needs an output per class.
void choose_loss(const Value& train, RunConfig& config) {
  if (train.find("loss") != nullptr || config.data.wanted_outputs != 1) return;
  config.train.loss = is_one_of<Sigmoid>(config.model.layers.back()) ? Loss::binary_cross_entropy : Loss::squared_error;
  config.data.remarks.push_back(
      fmt::format("train.loss = {}, for the model has one output", toml_quote(name_of(config.train.loss))));
}

/// `input_from_data`: model.input may be missing and is then left empty.
RunConfig parse_sections(std::string_view toml_text, std::string_view name, const std::vector<std::string>& overrides,
                         bool input_from_data) {
  Value root = parse_toml(toml_text, name);
  apply_overrides(root, overrides);
  check_sections(root);
  // A section that is not there is empty: what it must hold is reported as missing.
  const Value empty{ValueTable{}, std::string(name)};
  const auto section = [&](std::string_view wanted) -> const Value& {
    const Value* found = root.find(wanted);
    return found != nullptr ? *found : empty;
  };
  RunConfig config;
  config.name = name;
  config.data = read_data(section("data"), config.name);
  config.model = read_model(section("model"), input_from_data && !config.data.from_rank0);
  const auto input = config.model.input.extents();
  config.data.wanted_shape.assign(input.begin(), input.end());
  config.data.wanted_outputs = outputs_of(config.model.layers);
  read_train(section("train"), config);
  choose_loss(section("train"), config);
  read_section(section("checkpoint"), "checkpoint", checkpoint_fields(), config.checkpoint);
  read_section(section("log"), "log", log_fields(), config.log);
  read_section(section("guard"), "guard", guard_fields(), config.train.guard);
  read_section(section("parallel"), "parallel", parallel_fields(), config.train.parallel);
  return config;
}

/// The shape of the samples becomes model.input. The data are opened once more when the run begins: few configurations
/// leave model.input out, and those have small data.
void take_input_from_data(RunConfig& config) {
  config.model.input = load_data(config.data).train->sample_shape();
  const auto input = config.model.input.extents();
  config.data.wanted_shape.assign(input.begin(), input.end());
  config.data.remarks.push_back(fmt::format("model.input = [{}], the shape of the samples", fmt::join(input, ", ")));
}

}  // namespace

RunConfig parse_config(std::string_view toml_text, std::string_view name, const std::vector<std::string>& overrides) {
  return parse_sections(toml_text, name, overrides, false);
}

DataConfig make_data_config(const std::string& source, const std::vector<std::string>& overrides) {
  Value root{ValueTable{{"data", Value{ValueTable{{"source", Value{source, "--data"}}}, "--data"}}}, "--data"};
  apply_overrides(root, overrides);
  if (root.table()->size() != 1)
    throw Error(ErrorCode::usage, "--set: only keys of data can be set here, for example --set data.limit=100");
  return read_data(*root.find("data"), {});
}

RunConfig load_config(const std::string& path, const std::vector<std::string>& overrides) {
  RunConfig config = parse_sections(read_text(path, kMaxConfigBytes, ErrorCode::usage), path, overrides, true);
  if (config.model.input.rank() == 0) take_input_from_data(config);
  return config;
}

std::string resolved_toml(const RunConfig& config) {
  const auto if_any = [](std::string_view name, const std::vector<std::string>& entries) {
    return entries.empty() ? std::string() : section_toml(name, entries) + "\n";
  };
  return fmt::format(
      "{}\n{}\n{}\n{}\n{}{}{}", section_toml("data", toml_entries(with_division(config.data), data_fields())),
      section_toml("model", model_entries(config.model)), section_toml("train", toml_entries(config, train_fields())),
      section_toml("checkpoint", toml_entries(config.checkpoint, checkpoint_fields())),
      if_any("log", toml_entries(config.log, log_fields())),
      if_any("guard", toml_entries(config.train.guard, guard_fields())),
      section_toml("parallel", toml_entries(config.train.parallel, parallel_fields())));
}

std::string misfit_origin(const RunConfig& config) {
  const ModelConfig& model = config.model;
  const bool needs_sigmoid = config.train.loss == Loss::binary_cross_entropy && !model.layer_origins.empty() &&
                             !std::holds_alternative<Sigmoid>(model.layers.back().kind);
  return needs_sigmoid ? model.layer_origins.back() : config.name;
}

Network make_network(const RunConfig& config) {
  Network network(config.model.input, config.model.precision, config.model.init);
  const auto& origins = config.model.layer_origins;
  for (std::size_t i = 0; i < config.model.layers.size(); ++i) {
    try {
      network.add(config.model.layers[i]);
    } catch (const Error& error) {
      throw Error(error.code(), fmt::format("{}: {}", i < origins.size() ? origins[i] : config.name, error.what()));
    }
  }
  network.initialise_later(config.train.seed);
  const ModelConfig& model = config.model;
  if (!model.init_file.empty() && model.init_map.empty())
    load_weights(model.init_file, network, weight_rule(config.data));
  else if (!model.init_file.empty())
    load_mapped_weights(model.init_file, network, model.init_map);
  return network;
}

}  // namespace lockstep
