#include "lockstep/model/network_json.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "lockstep/core/error.hpp"
#include "lockstep/core/fields.hpp"
#include "lockstep/data/bytes.hpp"

namespace lockstep {

namespace {

constexpr std::size_t kMaxBytes = 16 << 20;
constexpr std::size_t kMaxDepth = 64;

/// Hears the text piece by piece; keeps only the keys of the objects that are open.
class Listener {
 public:
  explicit Listener(std::string_view name) : name_(name) {}

  bool start_object(std::size_t) { return open(); }
  bool start_array(std::size_t) { return open(); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool key(std::string& text) {
    if (!keys_.back().insert(text).second)
      throw Error(ErrorCode::checkpoint,
                  fmt::format("{}: the key \"{}\" stands twice in one object", name_, printable(text)));
    return true;
  }

  bool null() { return true; }
  bool boolean(bool) { return true; }
  bool number_integer(std::int64_t) { return true; }
  bool number_unsigned(std::uint64_t) { return true; }
  bool number_float(double, const std::string&) { return true; }
  bool string(std::string&) { return true; }
  bool binary(std::vector<std::uint8_t>&) { return true; }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception&) {
    throw Error(ErrorCode::checkpoint, fmt::format("{}: byte {}: not JSON here", name_, position - 1));
  }

 private:
  bool open() {
    if (keys_.size() == kMaxDepth)
      throw Error(ErrorCode::checkpoint, fmt::format("{}: nested more than {} deep", name_, kMaxDepth));
    keys_.emplace_back();
    return true;
  }
  bool close() {
    keys_.pop_back();
    return true;
  }

  std::string_view name_;
  std::vector<std::set<std::string>> keys_;
};

using Json = nlohmann::ordered_json;

// Large enough for any network, small enough that products of them stay within 64 bits where shapes are planned.
constexpr std::int64_t kMaxCount = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t kMaxExtent = 65535;
constexpr std::int64_t kMaxParameters = std::int64_t{1} << 40;

Json to_json(const std::vector<LayerSpec>& layers);

/// One member of an object for each field. Initialisers are left out: the weights are in the file.
struct Writer {
  Json out = Json::object();

  void operator()(const std::string& key, std::int64_t value) { out[key] = value; }
  void operator()(const std::string& key, bool value) { out[key] = value; }
  void operator()(const std::string& key, double value) { out[key] = value; }
  template <class Enum>
  requires std::is_enum_v<Enum>
  void operator()(const std::string& key, Enum value) { out[key] = name_of(value); }
  void operator()(const std::string& key, const Extent& extent) { out[key] = {extent.height, extent.width}; }
  void operator()(const std::string& key, const std::optional<Extent>& extent) { (*this)(key, extent.value()); }
  void operator()(const std::string& key, const std::vector<LayerSpec>& layers) { out[key] = to_json(layers); }
  void operator()(const std::string&, const std::optional<Init>&) {}
};

/// With defaults that depend on other fields written out.
template <class Layer>
Layer resolved(const Layer& layer) {
  if constexpr (requires { layer.resolved(); })
    return layer.resolved();
  else
    return layer;
}

Json to_json(const std::vector<LayerSpec>& layers) {
  Json list = Json::array();
  for (const LayerSpec& spec : layers) {
    Writer writer;
    std::visit(
        [&](const auto& layer) {
          const auto whole = resolved(layer);
          const std::remove_cvref_t<decltype(whole)> usual{};
          for_each_field(whole, [&](const auto& field, const auto& value) {
            using Value = std::remove_cvref_t<decltype(value)>;
            if constexpr (std::is_same_v<Value, bool> || std::is_enum_v<Value>)
              if (field.is_quiet && value == field.of(usual)) return;
            writer(std::string(field.name), value);
          });
        },
        spec.kind);
    list.push_back({{layer_type(spec), std::move(writer.out)}});
  }
  return list;
}

[[noreturn]] void refuse_network(const std::string& place, std::string_view what) {
  throw Error(ErrorCode::checkpoint, fmt::format("{}: {}", place, what));
}

std::int64_t integer_of(const Json& value, std::int64_t max, const std::string& place) {
  // Parsed numbers without a sign are unsigned, so the conversion below cannot wrap.
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > static_cast<std::uint64_t>(max))
    refuse_network(place, fmt::format("a whole number from 0 to {} was expected", max));
  return value.get<std::int64_t>();
}

std::vector<LayerSpec> layers_of(const Json& value, const std::string& place);

/// Reads the members of an object, each exactly once, and refuses others.
class Reader {
 public:
  Reader(const Json& object, std::string place) : object_(object), place_(std::move(place)) {
    if (!object_.is_object()) refuse_network(place_, "an object was expected");
  }

  bool has(const std::string& key) const { return object_.contains(key); }
  const Json& member(const std::string& key) {
    const auto found = object_.find(key);
    if (found == object_.end()) refuse_network(place_, fmt::format("\"{}\" is missing", key));
    used_.insert(key);
    return *found;
  }
  void finish() const {
    for (const auto& [key, value] : object_.items())
      if (!used_.contains(key)) refuse_network(place_, fmt::format("the key \"{}\" is unknown", printable(key)));
  }
  std::string place(const std::string& key) const { return fmt::format("{}.{}", place_, key); }

  void operator()(const std::string& key, std::int64_t& value) {
    value = integer_of(member(key), kMaxCount, place(key));
  }
  void operator()(const std::string& key, bool& value) {
    const Json& json = member(key);
    if (!json.is_boolean()) refuse_network(place(key), "true or false was expected");
    value = json.get<bool>();
  }
  template <class Enum>
  requires std::is_enum_v<Enum>
  void operator()(const std::string& key, Enum& value) {
    const Json& json = member(key);
    const auto& names = names_of<Enum>();
    const auto found = json.is_string() ? std::ranges::find(names, json.get<std::string>()) : names.end();
    if (found == names.end()) refuse_network(place(key), fmt::format("one of {} was expected", fmt::join(names, ", ")));
    value = static_cast<Enum>(found - names.begin());
  }
  void operator()(const std::string& key, double& value) {
    const Json& json = member(key);
    if (!json.is_number()) refuse_network(place(key), "a number was expected");
    value = json.get<double>();
  }
  void operator()(const std::string& key, Extent& extent) {
    const Json& json = member(key);
    if (!json.is_array() || json.size() != 2) refuse_network(place(key), "two numbers were expected");
    extent = {integer_of(json[0], kMaxExtent, place(key)), integer_of(json[1], kMaxExtent, place(key))};
  }
  void operator()(const std::string& key, std::optional<Extent>& extent) { (*this)(key, extent.emplace(1)); }
  void operator()(const std::string& key, std::vector<LayerSpec>& layers) {
    layers = layers_of(member(key), place(key));
  }
  void operator()(const std::string&, std::optional<Init>&) {}

 private:
  const Json& object_;
  std::string place_;
  std::set<std::string> used_;
};

LayerSpec layer_of(const Json& value, const std::string& place) {
  if (!value.is_object() || value.size() != 1)
    refuse_network(place, "an object with one key, the layer's type, was expected");
  const std::string& type = value.begin().key();
  const auto& names = record_names<LayerKind>();
  const auto found = std::ranges::find(names, type);
  if (found == names.end())
    refuse_network(place,
                   fmt::format("the layer type \"{}\" is unknown; written by a later version?", printable(type)));
  LayerKind kind = default_record<LayerKind>(static_cast<std::size_t>(found - names.begin()));
  Reader reader(value.front(), fmt::format("{}.{}", place, type));
  std::visit(
      [&](auto& layer) {
        for_each_field(layer, [&](const auto& field, auto& out) {
          // Not in the files of an earlier Lockstep, nor where it has its default.
          if (field.is_quiet && !reader.has(std::string(field.name))) return;
          reader(std::string(field.name), out);
        });
      },
      kind);
  reader.finish();
  return kind;
}

std::vector<LayerSpec> layers_of(const Json& value, const std::string& place) {
  if (!value.is_array()) refuse_network(place, "a list of layers was expected");
  std::vector<LayerSpec> layers;
  for (const Json& layer : value) layers.push_back(layer_of(layer, fmt::format("{}[{}]", place, layers.size())));
  return layers;
}

Shape shape_from(const Json& value, const std::string& place) {
  if (!value.is_array()) refuse_network(place, "a list of numbers was expected");
  std::vector<std::int64_t> extents;
  for (const Json& extent : value) extents.push_back(integer_of(extent, kMaxCount, place));
  return Shape(extents);
}

/// The parameters of a planned layer, counted so that no claim of a file can overflow.
std::int64_t count_parameters(const LayerPlan& plan, const std::string& name) {
  std::int64_t count = 0;
  const std::vector<LayerPlan> plans{plan};
  for_each_layer(plans, [&](const LayerPlan& layer) {
    for (const ParameterInfo& info : layer.parameters) {
      if (info.elements() > kMaxParameters - count) refuse_network(name, "more parameters than any memory holds");
      count += info.elements();
    }
  });
  return count;
}

}  // namespace

std::string network_to_json(const Network& network) {
  Json json;
  const auto extents = network.input().extents();
  json["input"] = std::vector<std::int64_t>(extents.begin(), extents.end());
  json["precision"] = to_string(network.precision());
  json["layers"] = to_json(network.layers());
  return json.dump();
}

Network network_from_json(std::string_view text, std::string_view name) {
  check_json(text, name);
  const Json json = Json::parse(text);
  const std::string place(name);
  Reader reader(json, place);
  const Json& precision = reader.member("precision");
  if (precision != "float32" && precision != "float64")
    refuse_network(reader.place("precision"), "\"float32\" or \"float64\" was expected");
  const std::vector<LayerSpec> layers = layers_of(reader.member("layers"), reader.place("layers"));
  try {
    Network network(shape_from(reader.member("input"), reader.place("input")),
                    precision == "float32" ? Precision::float32 : Precision::float64);
    reader.finish();
    for (const LayerSpec& layer : layers) {
      const LayerPlan plan = plan_layer(layer, network.output(), std::to_string(network.layers().size()), Init{});
      if (count_parameters(plan, place) > kMaxParameters - network.parameter_count())
        refuse_network(place, "more parameters than any memory holds");
      network.add(layer);
    }
    return network;
  } catch (const Error& error) {
    // Layers that do not fit together are a configuration error elsewhere; here the file is at fault.
    if (error.code() != ErrorCode::usage) throw;
    refuse_network(place, error.what());
  }
}

void check_json(std::string_view text, std::string_view name) {
  if (text.size() > kMaxBytes)
    throw Error(ErrorCode::checkpoint, fmt::format("{}: {} bytes, at most {} are read", name, text.size(), kMaxBytes));
  Listener listener(name);
  nlohmann::json::sax_parse(text, &listener);
}

}  // namespace lockstep
