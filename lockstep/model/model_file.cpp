#include "lockstep/model/model_file.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "lockstep/core/checked.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/file.hpp"
#include "lockstep/core/version.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/data/bytes.hpp"
#include "lockstep/data/data_fields.hpp"
#include "lockstep/data/formats/safetensors.hpp"
#include "lockstep/model/network_json.hpp"
#include "lockstep/model/onnx_import.hpp"
#include "lockstep/train/trainer.hpp"

namespace lockstep {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kLossKey = "lockstep.loss";
constexpr const char* kLossNumberKey = "lockstep.loss_number";
constexpr const char* kDataKey = "lockstep.data";

// How the values of a preparation look in JSON. A key of another type needs a pair of these.
template <class Value>
Json json_of(const Value& value) {
  return value;
}
Json json_of(const std::optional<bool>& value) { return value ? Json(*value) : Json(); }
Json json_of(const ResizeConfig& value) { return {{"size", value.size}, {"method", value.method}}; }

template <class Value>
void read_value(const Json& json, Value& value) {
  value = json.get<Value>();
}
void read_value(const Json& json, std::optional<bool>& value) {
  value = json.is_null() ? std::nullopt : std::optional(json.get<bool>());
}
void read_value(const Json& json, ResizeConfig& value) {
  value = {.size = json.at("size").get<std::int64_t>(), .method = json.at("method").get<std::string>()};
}

Json preparation_json(const DataConfig& config) {
  Json json = Json::object();
  for_each_preparation_key([&](const char* key, auto field) { json[key] = json_of(config.*field); });
  return json;
}

/// A key that is absent has its default: an earlier Lockstep did not know it. One that is unknown here might change
/// what the network sees, so it is refused.
DataConfig preparation_of(Json json) {
  if (!json.is_object()) throw Error(ErrorCode::checkpoint, fmt::format("{}: preparation is no object", kDataKey));
  DataConfig config;
  for_each_preparation_key([&](const char* key, auto field) {
    const auto found = json.find(key);
    if (found == json.end()) return;
    try {
      read_value(*found, config.*field);
    } catch (const nlohmann::json::exception&) {
      throw Error(ErrorCode::checkpoint, fmt::format("{}: preparation.{} has the wrong type", kDataKey, key));
    }
    json.erase(found);
  });
  if (!json.empty())
    throw Error(ErrorCode::checkpoint,
                fmt::format("{}: preparation.{} is unknown to this version; use the Lockstep that wrote the file",
                            kDataKey, printable(json.begin().key())));
  return config;
}

void check_source_shape(const std::vector<std::int64_t>& shape) {
  const bool positive = std::ranges::all_of(shape, [](std::int64_t extent) { return extent > 0; });
  if (shape.size() > 3 || !positive || !checked_product_of(shape, 8))
    throw Error(ErrorCode::checkpoint, fmt::format("{}: source_shape is no shape of a sample", kDataKey));
}

template <class Value>
void read_member(const Json& object, const char* key, Value& value) {
  const auto found = object.find(key);
  if (found == object.end()) return;
  try {
    value = found->get<Value>();
  } catch (const nlohmann::json::exception&) {
    throw Error(ErrorCode::checkpoint, fmt::format("{}: {} has the wrong type", kDataKey, key));
  }
}

Json table_json(const TablePlan& plan) {
  Json columns = Json::array();
  for (const TableColumn& column : plan.columns) {
    Json json = {{"name", column.name}, {"index", column.index}};
    if (!column.categories.empty()) json["categories"] = column.categories;
    if (column.fill) json["fill"] = *column.fill;
    columns.push_back(std::move(json));
  }
  return {{"width", plan.width}, {"columns", std::move(columns)}};
}

TablePlan table_of(const Json& json) {
  TablePlan plan;
  try {
    plan.width = json.at("width").get<std::int64_t>();
    for (const Json& each : json.at("columns")) {
      TableColumn column{.name = each.at("name").get<std::string>(), .index = each.at("index").get<std::int64_t>()};
      if (each.contains("categories")) column.categories = each.at("categories").get<std::vector<std::string>>();
      if (each.contains("fill")) column.fill = each.at("fill").get<double>();
      plan.columns.push_back(std::move(column));
    }
  } catch (const nlohmann::json::exception&) {
    throw Error(ErrorCode::checkpoint, fmt::format("{}: table has the wrong form", kDataKey));
  }
  const bool valid = !plan.columns.empty() && std::ranges::all_of(plan.columns, [&](const TableColumn& column) {
    return column.index >= 0 && column.index < plan.width && std::isfinite(column.fill.value_or(0));
  });
  if (!valid) throw Error(ErrorCode::checkpoint, fmt::format("{}: table has columns that cannot be", kDataKey));
  return plan;
}

Loss loss_of(const std::string& name) {
  const auto found = std::ranges::find(names_of<Loss>(), name);
  if (found == names_of<Loss>().end())
    throw Error(ErrorCode::checkpoint, fmt::format("{}: the loss \"{}\" is unknown", kLossKey, printable(name)));
  return static_cast<Loss>(found - names_of<Loss>().begin());
}

void read_loss_number(const std::map<std::string, std::string>& metadata, ModelInfo& info) {
  const auto found = metadata.find(kLossNumberKey);
  if (found == metadata.end()) return;
  const auto number = parse_number<double>(found->second);
  const bool whole = number && *number == std::floor(*number) && *number <= double(kMostGamma);
  if (!number || !std::isfinite(*number) || *number <= 0 || (info.loss == Loss::focal && !whole))
    throw Error(ErrorCode::checkpoint, fmt::format("{} is no number of a loss", kLossNumberKey));
  if (info.loss == Loss::focal) info.focal_gamma = static_cast<std::int64_t>(*number);
  if (info.loss == Loss::huber) info.huber_delta = *number;
}

constexpr const char* kVersionKey = "lockstep.version";
constexpr const char* kNumericsKey = "lockstep.numerics_version";
constexpr const char* kModelKey = "lockstep.model";
constexpr const char* kHashKey = "lockstep.weight_hash";

const std::string& require(const SafetensorsMetadata& metadata, const char* key) {
  const auto found = metadata.find(key);
  if (found == metadata.end())
    throw Error(ErrorCode::checkpoint,
                fmt::format("no {} in the metadata: the file holds weights but does not describe a Lockstep model; it "
                            "can serve as initial weights (model.init)",
                            key));
  return found->second;
}

int numerics_version(const std::string& text) {
  const auto number = parse_number<int>(text);
  if (!number || *number < 1)
    throw Error(ErrorCode::checkpoint, fmt::format("{} is not a positive number", kNumericsKey));
  return *number;
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
  const SafetensorsMetadata& metadata = contents.metadata;
  Model model{.network = network_from_json(require(metadata, kModelKey), kModelKey),
              .info = info_from_metadata(metadata),
              .version = require(metadata, kVersionKey),
              .numerics_version = numerics_version(require(metadata, kNumericsKey))};
  set_weights(model.network, contents.tensors, "the weights");
  const std::string hash = weight_hash(model.network.values());
  if (hash != require(metadata, kHashKey))
    throw Error(ErrorCode::checkpoint,
                fmt::format("the weights have the hash {} but {} names another: the file is damaged or was edited; "
                            "take a copy of it",
                            short_hash(hash), kHashKey));
  return model;
}

std::vector<std::byte> write_model(const Network& network, const ModelInfo& info) {
  if (!all_finite(network.values()))
    throw Error(ErrorCode::diverged,
                "model file: the weights are not finite numbers, so training has diverged; lower the learning rate");
  return write_sealed(
      {.metadata = model_metadata(network, info, weight_hash(network.values())), .tensors = named_weights(network)});
}

void save_model(const std::filesystem::path& path, const Network& network, const ModelInfo& info) {
  write_file_atomically(path, write_model(network, info));
}

Model parse_model(std::span<const std::byte> bytes, std::string_view name) {
  return in_file(name, [&] {
    const SealedFile file = parse_sealed(bytes, name);
    Model model = model_of(file.contents);
    model.seal = file.seal;
    return model;
  });
}

Model load_model(const std::filesystem::path& path) {
  if (is_onnx(path)) return load_onnx(path);
  return parse_model(read_file(path, std::numeric_limits<std::int64_t>::max(), ErrorCode::checkpoint), path.string());
}

std::map<std::string, std::string> info_to_metadata(const ModelInfo& info) {
  const auto finite = [](double number) { return std::isfinite(number); };
  if (info.scale.size() != info.offset.size() || !std::ranges::all_of(info.scale, finite) ||
      !std::ranges::all_of(info.offset, finite))
    throw Error(ErrorCode::bug, "model file: scale and offset of the input do not pair or are not finite");
  Json data = Json::object();
  if (!info.source.empty()) data["source"] = info.source;
  if (!info.scale.empty()) {
    data["scale"] = info.scale;
    data["offset"] = info.offset;
  }
  if (info.white != 1) data["white"] = info.white;
  if (info.bytes != (info.white == 255)) data["bytes"] = info.bytes;
  if (info.lengths) data["lengths"] = true;
  if (info.preparation) data["preparation"] = preparation_json(*info.preparation);
  if (!info.source_shape.empty()) data["source_shape"] = info.source_shape;
  if (info.pictures) data["pictures"] = true;
  if (!info.class_names.empty()) data["class_names"] = info.class_names;
  if (info.named_labels) data["named_labels"] = true;
  if (info.table) data["table"] = table_json(*info.table);

  std::map<std::string, std::string> metadata;
  if (info.loss) metadata[kLossKey] = name_of(*info.loss);
  if (info.loss == Loss::focal) metadata[kLossNumberKey] = std::to_string(info.focal_gamma);
  if (info.loss == Loss::huber) metadata[kLossNumberKey] = fmt::format("{}", info.huber_delta);
  // Paths and folder names may hold any bytes, the file only UTF-8.
  if (!data.empty()) metadata[kDataKey] = data.dump(-1, ' ', false, Json::error_handler_t::replace);
  return metadata;
}

std::map<std::string, std::string> preparation_texts(const DataConfig& config) {
  std::map<std::string, std::string> texts;
  const Json json = preparation_json(config);
  for (const auto& [key, value] : json.items()) texts[key] = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  return texts;
}

ModelInfo info_from_metadata(const std::map<std::string, std::string>& metadata) {
  ModelInfo info;
  if (const auto loss = metadata.find(kLossKey); loss != metadata.end()) info.loss = loss_of(loss->second);
  read_loss_number(metadata, info);
  const auto data = metadata.find(kDataKey);
  if (data == metadata.end()) return info;
  check_json(data->second, kDataKey);
  const Json json = Json::parse(data->second);
  if (!json.is_object()) throw Error(ErrorCode::checkpoint, fmt::format("{}: an object was expected", kDataKey));
  read_member(json, "source", info.source);
  read_member(json, "scale", info.scale);
  read_member(json, "offset", info.offset);
  read_member(json, "white", info.white);
  info.bytes = info.white == 255;  // where a file does not say otherwise
  read_member(json, "bytes", info.bytes);
  read_member(json, "lengths", info.lengths);
  if (json.contains("preparation")) info.preparation = preparation_of(json.at("preparation"));
  read_member(json, "source_shape", info.source_shape);
  check_source_shape(info.source_shape);
  read_member(json, "pictures", info.pictures);
  read_member(json, "class_names", info.class_names);
  read_member(json, "named_labels", info.named_labels);
  if (json.contains("table")) info.table = table_of(json.at("table"));
  if (info.scale.size() != info.offset.size())
    throw Error(ErrorCode::checkpoint,
                fmt::format("{}: {} scales but {} offsets", kDataKey, info.scale.size(), info.offset.size()));
  if (!std::isfinite(info.white) || info.white <= 0)
    throw Error(ErrorCode::checkpoint, fmt::format("{}: white is {}, not a positive number", kDataKey, info.white));
  return info;
}

}  // namespace lockstep
