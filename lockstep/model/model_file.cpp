#include "lockstep/model/model_file.hpp"

#include <charconv>
#include <limits>

#include <fmt/format.h>

#include "lockstep/core/error.hpp"
#include "lockstep/core/file.hpp"
#include "lockstep/core/version.hpp"
#include "lockstep/data/formats/safetensors.hpp"
#include "lockstep/model/network_json.hpp"
#include "lockstep/train/trainer.hpp"

namespace lockstep {
namespace {

constexpr const char* kVersionKey = "lockstep.version";
constexpr const char* kNumericsKey = "lockstep.numerics_version";
constexpr const char* kModelKey = "lockstep.model";
constexpr const char* kHashKey = "lockstep.weight_hash";

const std::string& require(const SafetensorsMetadata& metadata, const char* key) {
  const auto found = metadata.find(key);
  if (found == metadata.end())
    throw Error(ExitCode::checkpoint,
                fmt::format("no {} in the metadata: the file holds weights but does not describe a Lockstep model; it "
                            "can serve as initial weights (model.init)",
                            key));
  return found->second;
}

int numerics_version(const std::string& text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 1)
    throw Error(ExitCode::checkpoint, fmt::format("{} is not a positive number", kNumericsKey));
  return number;
}

Model build_model(const Safetensors& contents) {
  const SafetensorsMetadata& metadata = contents.metadata;
  Model model{.network = network_from_json(require(metadata, kModelKey), kModelKey),
              .info = info_from_metadata(metadata),
              .version = require(metadata, kVersionKey),
              .numerics_version = numerics_version(require(metadata, kNumericsKey))};
  set_weights(model.network, contents.tensors, "the weights");
  const std::string hash = weight_hash(model.network.values());
  if (hash != require(metadata, kHashKey))
    throw Error(ExitCode::checkpoint,
                fmt::format("the weights have the hash {} but {} names another: the file is damaged or was edited; "
                            "take a copy of it",
                            short_hash(hash), kHashKey));
  return model;
}

/// Whatever is wrong with a model file, it is the model that is unusable.
template <class Step>
auto as_checkpoint(const std::string& prefix, const Step& step) {
  try {
    return step();
  } catch (const Error& error) {
    if (error.code() == ExitCode::resources) throw;
    throw Error(ExitCode::checkpoint, prefix + error.what());
  }
}

}  // namespace

std::map<std::string, std::string> model_metadata(const Network& network, const ModelInfo& info,
                                                  const std::string& hash) {
  std::map<std::string, std::string> metadata = info_to_metadata(info);
  metadata[kVersionKey] = version();
  metadata[kNumericsKey] = std::to_string(kNumericsVersion);
  metadata[kModelKey] = network_to_json(network);
  metadata[kHashKey] = hash;
  return metadata;
}

Model model_of(const Safetensors& contents) {
  return as_checkpoint("", [&] { return build_model(contents); });
}

std::vector<std::byte> write_model(const Network& network, const ModelInfo& info) {
  if (!all_finite(network.values()))
    throw Error(ExitCode::diverged,
                "model file: the weights are not finite numbers, so training has diverged; lower the learning rate");
  return write_sealed(
      {.metadata = model_metadata(network, info, weight_hash(network.values())), .tensors = named_weights(network)});
}

void save_model(const std::filesystem::path& path, const Network& network, const ModelInfo& info) {
  write_file_atomically(path, write_model(network, info));
}

Model parse_model(std::span<const std::byte> bytes, std::string_view name) {
  const SealedFile file = as_checkpoint("", [&] { return parse_sealed(bytes, name); });
  Model model = as_checkpoint(fmt::format("{}: ", name), [&] { return build_model(file.contents); });
  model.seal = file.seal;
  return model;
}

Model load_model(const std::filesystem::path& path) {
  return parse_model(read_file(path, std::numeric_limits<std::int64_t>::max(), ExitCode::checkpoint), path.string());
}

}  // namespace lockstep
