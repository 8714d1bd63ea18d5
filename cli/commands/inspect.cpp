// lockstep inspect FILE...: what is in any file that Lockstep reads: models (.safetensors), run directories,
// configurations (.toml) and data files (inspect_data.hpp).

#include <filesystem>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/commands/commands.hpp"
#include "cli/commands/inspect_data.hpp"
#include "cli/commands/model_data.hpp"
#include "lockstep/config/config.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/data/bytes.hpp"
#include "lockstep/data/formats/safetensors.hpp"
#include "lockstep/lab/text_table.hpp"
#include "lockstep/model/checkpoint_store.hpp"
#include "lockstep/model/model_file.hpp"
#include "lockstep/model/onnx_file.hpp"
#include "lockstep/model/onnx_import.hpp"
#include "lockstep/run/directory.hpp"

namespace lockstep::cli {

namespace fs = std::filesystem;

namespace {

struct InspectArguments {
  std::vector<std::string> files{};
  std::vector<std::string> set{};  // changes of configurations
};

constexpr const char* kModelKey = "lockstep.model";

std::string network_text(const Network& network) {
  TextTable table("lllrrr");
  table.row({"layer", "type", "", "output", "parameters", "flops"});
  double flops = 0;
  for (const LayerSummary& layer : network.summary()) {
    // A block that holds layers repeats their work: it has no dots in its path only if it is one of the outer ones.
    if (layer.path.find('.') == std::string::npos) flops += layer.flops;
    table.row({layer.path, layer.type, layer.detail, layer.out.str(),
               layer.parameters == 0 ? "" : with_commas(layer.parameters),
               layer.flops == 0 ? "" : with_prefix(layer.flops)});
  }
  table.row({"", "", "", "total", with_commas(network.trainable_count()), with_prefix(flops)});
  return table.str();
}

Json network_json(const Network& network) {
  Json layers = Json::array();
  for (const LayerSummary& layer : network.summary())
    layers.push_back({{"path", layer.path},
                      {"type", layer.type},
                      {"detail", layer.detail},
                      {"in", layer.in.extents()},
                      {"out", layer.out.extents()},
                      {"parameters", layer.parameters},
                      {"flops", layer.flops}});
  return {{"input", network.input().extents()},
          {"output", network.output().extents()},
          {"precision", to_string(network.precision())},
          {"parameters", network.trainable_count()},
          {"running_statistics", network.parameter_count() - network.trainable_count()},
          {"layers", std::move(layers)}};
}

std::string input_line(const Network& network) {
  return fmt::format("{} -> {}, {}", network.input().str(), network.output().str(), to_string(network.precision()));
}

/// The optimiser as the configuration of a run names it.
std::string optimizer_of(const std::string& config) {
  constexpr std::string_view kKey = "\noptimizer = ";
  const auto at = config.find(kKey);
  if (at == std::string::npos) return "unknown";
  const auto from = at + kKey.size();
  return config.substr(from, config.find('\n', from) - from);
}

/// What a checkpoint says besides its model. load_model has verified it.
void describe_checkpoint(const std::string& path, TextTable& facts, Json& json) {
  json["format"] = "checkpoint";
  const Checkpoint checkpoint = load_checkpoint(path);
  const TrainingState& state = checkpoint.state;
  facts.row({"stands after", fmt::format("step {}: {} and {}", with_commas(state.steps), count_of(state.epoch, "epoch"),
                                         count_of(state.batch, "batch", "batches"))});
  facts.row({"optimizer", one_line(optimizer_of(checkpoint.run.config))});
  facts.row({"data", checkpoint.run.data_digest});
  json["step"] = state.steps;
  json["epoch"] = state.epoch;
  json["batch"] = state.batch;
  json["optimizer"] = optimizer_of(checkpoint.run.config);
  json["data_sha256"] = checkpoint.run.data_digest;
  json["config"] = checkpoint.run.config;
}

/// Whether every byte is what was written.
void describe_seal(Seal seal, TextTable& facts, Json& json) {
  facts.row({"validates", seal == Seal::whole     ? "yes: every byte is what was written"
                          : seal == Seal::weights ? "the weights only: an earlier Lockstep wrote no digest of the rest"
                                                  : "unverified: the file has no digest of Lockstep"});
  json["validates"] = seal == Seal::whole;
}

/// How the model's samples are prepared, as far as it is not the default.
void describe_preparation(const ModelInfo& info, TextTable& facts, Json& json) {
  if (!info.preparation) return;
  const auto defaults = preparation_texts({});
  std::string shown;
  for (const auto& [key, value] : preparation_texts(*info.preparation)) {
    json["preparation"][key] = Json::parse(value);
    if (value != defaults.at(key)) shown += fmt::format("{}{} = {}", shown.empty() ? "" : ", ", key, value);
  }
  if (!shown.empty()) facts.row({"prepared with", one_line(shown)});
}

Inspection inspect_model(const std::string& path) {
  const Model model = load_model(path);
  const bool onnx = is_onnx(path);
  const bool checkpoint = !onnx && is_checkpoint(read_safetensors_header(path).metadata);
  const std::string hash = weight_hash(model.network.values());
  TextTable facts("ll");
  facts.row({"network", input_line(model.network)});
  Json json = {{"format", "model"}};
  json.update(network_json(model.network));
  if (model.info.loss) {
    const std::string loss = name_of(*model.info.loss);
    facts.row({"loss", loss});
    json["loss"] = loss;
  }
  if (!model.info.source.empty()) facts.row({"trained on", one_line(model.info.source)});
  if (!model.info.class_names.empty())
    facts.row({"classes", one_line(fmt::format("{}", fmt::join(model.info.class_names, ", ")))});
  facts.row({"weights", hash});
  if (!model.info.scale.empty()) facts.row({"inputs", "raw numbers * scale + offset"});
  if (onnx) {
    const OnnxFile file = read_onnx(path);
    facts.row({"written by", fmt::format("{}, opset {}", one_line(printable(file.producer)), file.opset)});
    json["producer"] = file.producer;
    json["opset"] = file.opset;
  } else {
    facts.row({"written by", fmt::format("Lockstep {}, numerics {}", one_line(model.version), model.numerics_version)});
  }
  json["source"] = model.info.source;
  json["class_names"] = model.info.class_names;
  json["weight_hash"] = hash;
  json["version"] = model.version;
  json["numerics_version"] = model.numerics_version;
  describe_preparation(model.info, facts, json);
  describe_seal(model.seal, facts, json);
  if (checkpoint) describe_checkpoint(path, facts, json);
  return {fmt::format("{}\n\n{}\n{}",
                      onnx         ? "ONNX model"
                      : checkpoint ? "checkpoint"
                                   : "model",
                      facts.str(), network_text(model.network)),
          std::move(json)};
}

/// A file of weights without a description of a network.
Inspection inspect_weights(const SafetensorsHeader& header, Seal seal) {
  TextTable table("llr");
  table.row({"tensor", "type", "shape"});
  Json list = Json::array();
  for (const SafetensorsEntry& entry : header.tensors) {
    table.row(
        {one_line(entry.name), std::string(to_string(entry.type)), fmt::format("[{}]", fmt::join(entry.dims, ","))});
    list.push_back({{"name", entry.name}, {"type", to_string(entry.type)}, {"shape", entry.dims}});
  }
  std::string text =
      fmt::format("safetensors file: {}\n\n{}", count_of(std::ssize(header.tensors), "tensor"), table.str());
  for (const auto& [key, value] : header.metadata) text += fmt::format("{}: {}\n", one_line(key), one_line(value));
  Json json = {{"format", "safetensors"}, {"tensors", list}, {"metadata", header.metadata}};
  TextTable facts("ll");
  describe_seal(seal, facts, json);
  return {fmt::format("{}\n{}", text, facts.str()), std::move(json)};
}

Inspection inspect_safetensors(const std::string& path) {
  const SafetensorsHeader header = read_safetensors_header(path);
  if (header.metadata.contains(kModelKey)) return inspect_model(path);
  // The numbers of another program's file, which may be large, are not looked at.
  return inspect_weights(header, has_marks(header) ? read_sealed(path).seal : Seal::none);
}

Inspection inspect_config(const std::string& path, const std::vector<std::string>& set) {
  const RunConfig config = load_config(path, set);
  const Network network = make_network(config);
  Json json = {{"format", "configuration"}};
  json.update(network_json(network));
  json["resolved"] = resolved_toml(config);
  return {fmt::format("configuration\n\nnetwork  {}\n\n{}\n{}", input_line(network), network_text(network),
                      resolved_toml(config)),
          std::move(json)};
}

Inspection inspect(const std::string& path, const std::vector<std::string>& set) {
  if (const std::string model = model_file(path); model != path) return inspect_model(model);
  const std::string ending = fs::path(path).extension().string();
  if (ending == ".safetensors") return inspect_safetensors(path);
  if (ending == ".onnx") return inspect_model(path);
  if (ending == ".toml") return inspect_config(path, set);
  return inspect_data(path);
}

void run_inspect(const InspectArguments& arguments, Console& console) {
  Json list = Json::array();
  for (const std::string& path : arguments.files) {
    const Inspection result = inspect(path, arguments.set);
    Json entry = {{"file", path}};
    entry.update(result.json);
    list.push_back(std::move(entry));
    if (console.json()) continue;
    const bool first = list.size() == 1;
    console.print(fmt::format("{}{}: {}", first ? "" : "\n", one_line(path), result.text));
  }
  if (console.json()) console.print(fmt::format("{}\n", list.dump(-1, ' ', false, Json::error_handler_t::replace)));
}

}  // namespace

RunCommand inspect_command(Options& options) {
  const auto arguments = std::make_shared<InspectArguments>();
  options.examples(R"(Examples:
  lockstep inspect runs/moons-1/model.safetensors
  lockstep inspect examples/lenet5-fashion.toml --set model.precision=float64
  lockstep inspect train-images-idx3-ubyte.gz ex4data1.mat points.csv digits/)");
  options.arguments(
      "files", arguments->files,
      {"FILE...", "Models, checkpoints, run directories, .toml, IDX, .mat, .npy, .npz, .csv, .png, folders of images"},
      true);
  options.set(arguments->set);
  return [arguments](Console& console) { run_inspect(*arguments, console); };
}

}  // namespace lockstep::cli
