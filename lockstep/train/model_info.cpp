#include "lockstep/train/model_info.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "lockstep/core/error.hpp"
#include "lockstep/data/bytes.hpp"
#include "lockstep/train/json_check.hpp"

namespace lockstep {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kLossKey = "lockstep.loss";
constexpr const char* kDataKey = "lockstep.data";

template <class Value>
void read_member(const Json& object, const char* key, Value& value) {
  const auto found = object.find(key);
  if (found == object.end()) return;
  try {
    value = found->get<Value>();
  } catch (const nlohmann::json::exception&) {
    throw Error(ExitCode::checkpoint, fmt::format("{}: {} has the wrong type", kDataKey, key));
  }
}

Loss loss_of(const std::string& name) {
  const auto found = std::ranges::find(loss_names(), name);
  if (found == loss_names().end())
    throw Error(ExitCode::checkpoint, fmt::format("{}: the loss \"{}\" is unknown", kLossKey, printable(name)));
  return static_cast<Loss>(found - loss_names().begin());
}

}  // namespace

std::map<std::string, std::string> info_to_metadata(const ModelInfo& info) {
  const auto finite = [](double number) { return std::isfinite(number); };
  if (info.scale.size() != info.offset.size() || !std::ranges::all_of(info.scale, finite) ||
      !std::ranges::all_of(info.offset, finite))
    throw Error(ExitCode::bug, "model file: scale and offset of the input do not pair or are not finite");
  Json data = Json::object();
  if (!info.source.empty()) data["source"] = info.source;
  if (!info.scale.empty()) {
    data["scale"] = info.scale;
    data["offset"] = info.offset;
  }
  if (info.white != 1) data["white"] = info.white;
  if (info.transposed) data["transposed"] = true;
  if (!info.class_names.empty()) data["class_names"] = info.class_names;

  std::map<std::string, std::string> metadata;
  if (info.loss) metadata[kLossKey] = loss_names()[static_cast<std::size_t>(*info.loss)];
  // Paths and folder names may hold any bytes, the file only UTF-8.
  if (!data.empty()) metadata[kDataKey] = data.dump(-1, ' ', false, Json::error_handler_t::replace);
  return metadata;
}

ModelInfo info_from_metadata(const std::map<std::string, std::string>& metadata) {
  ModelInfo info;
  if (const auto loss = metadata.find(kLossKey); loss != metadata.end()) info.loss = loss_of(loss->second);
  const auto data = metadata.find(kDataKey);
  if (data == metadata.end()) return info;
  check_json(data->second, kDataKey);
  const Json json = Json::parse(data->second);
  if (!json.is_object()) throw Error(ExitCode::checkpoint, fmt::format("{}: an object was expected", kDataKey));
  read_member(json, "source", info.source);
  read_member(json, "scale", info.scale);
  read_member(json, "offset", info.offset);
  read_member(json, "white", info.white);
  read_member(json, "transposed", info.transposed);
  read_member(json, "class_names", info.class_names);
  if (info.scale.size() != info.offset.size())
    throw Error(ExitCode::checkpoint,
                fmt::format("{}: {} scales but {} offsets", kDataKey, info.scale.size(), info.offset.size()));
  if (!std::isfinite(info.white) || info.white <= 0)
    throw Error(ExitCode::checkpoint, fmt::format("{}: white is {}, not a positive number", kDataKey, info.white));
  return info;
}

}  // namespace lockstep
