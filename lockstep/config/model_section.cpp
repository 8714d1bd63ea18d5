#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "lockstep/config/reader.hpp"
#include "lockstep/config/record_writer.hpp"
#include "lockstep/config/sections.hpp"
#include "lockstep/config/suggest.hpp"
#include "lockstep/model/onnx_import.hpp"

namespace lockstep {

namespace {

constexpr std::size_t kMaxLayers = 4096;
constexpr int kMaxDepth = 8;  // of residual blocks in residual blocks

template <class Layer>
constexpr bool kHasRequired = std::apply([](const auto&... each) { return ((each.hint != nullptr) || ...); },
                                         Layer::fields());

template <class Layer>
constexpr bool kHasOptions = std::tuple_size_v<decltype(Layer::fields())> > 0;

LayerKind find_layer(const std::string& name, const Value& at, const Place& place) {
  const std::vector<std::string>& names = record_names<LayerKind>();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end())
    fail_at(at, place.path, fmt::format("unknown layer {}{}", excerpt(Value{name}), suggestion(name, names)));
  return default_record<LayerKind>(static_cast<std::size_t>(found - names.begin()));
}

LayerSpec layer_at(const Value& value, const Place& place) {
  const ValueTable* table = value.table();
  const bool bare = value.string() != nullptr;
  if (!bare && (table == nullptr || table->size() != 1))
    fail_at(value, place.path,
            fmt::format("a layer is a name or a table with one key, as \"relu\" or {{linear = 10}}, not {}",
                        excerpt(value)));
  const std::string& name = bare ? *value.string() : table->front().key;
  const Value none{ValueTable{}, value.origin};
  const Value& options = bare ? none : table->front().value;
  LayerKind kind = find_layer(name, bare ? value : options, place);
  std::visit(
      [&]<class Layer>(Layer& layer) {
        if constexpr (kHasRequired<Layer>)
          if (bare) fail_at(value, place.path, fmt::format("\"{}\" needs options, as {}", name, Layer::kExample));
        if (!kHasOptions<Layer> && (options.table() == nullptr || !options.table()->empty()))
          fail_at(options, place.at(name).path, "takes no options: write its name alone, as a string");
        read_record(options, place.at(name), Layer::kName, layer);
      },
      kind);
  return kind;
}

std::vector<LayerSpec> layers_at(const Value& list, const Place& place) {
  const ValueArray& values = as_array(list, place.path);
  if (values.size() > kMaxLayers)
    fail_at(list, place.path, fmt::format("has {} layers, at most {} are allowed", values.size(), kMaxLayers));
  std::vector<LayerSpec> layers;
  for (std::size_t i = 0; i < values.size(); ++i)
    layers.push_back(layer_at(values[i], {fmt::format("{}[{}]", place.path, i), place.depth}));
  return layers;
}

/// What stands behind the equals sign; empty for a layer without options.
template <class Layer>
std::string options_toml(const Layer& layer, int indent) {
  constexpr auto kFields = Layer::fields();
  if constexpr (std::tuple_size_v<decltype(kFields)> == 1)
    if (std::get<0>(kFields).is_shorthand) return toml_text(std::get<0>(kFields).of(layer), indent);
  const std::vector<std::string> entries = toml_entries(layer, kFields, indent + 2);
  return entries.empty() ? "" : fmt::format("{{{}}}", fmt::join(entries, ", "));
}

constexpr std::int64_t kMaxFeatures = 1 << 24;
constexpr std::size_t kMaxSizes = 256;

const std::vector<std::string> kPrecisions = {"float32", "float64"};

/// 400 or [1, 28, 28].
Shape read_input(const Value& value) {
  if (value.array() == nullptr) return {as_integer(value, "model.input", {1, kMaxFeatures})};
  const ValueArray& list = *value.array();
  if (list.empty() || list.size() > 3)
    fail_at(value, "model.input", "must have 1 to 3 extents: [features] or [channels, height, width]");
  std::vector<std::int64_t> extents;
  std::int64_t elements = 1;
  for (std::size_t i = 0; i < list.size(); ++i) {
    extents.push_back(as_integer(list[i], fmt::format("model.input[{}]", i), {1, kMaxFeatures}));
    elements *= extents.back();  // at most (2^24)^2 here: checked before the third factor
    if (elements > kMaxFeatures) fail_at(value, "model.input", fmt::format("has more than {} elements", kMaxFeatures));
  }
  return Shape(extents);
}

/// "784-128-10" or [784, 128, 10].
std::vector<std::int64_t> read_sizes(const Value& value) {
  constexpr std::string_view kPath = "model.sizes";
  std::vector<std::int64_t> sizes;
  if (const ValueArray* list = value.array()) {
    for (const Value& element : *list) sizes.push_back(as_integer(element, kPath, {1, kMaxFeatures}));
  } else {
    const std::string& text = as_string(value, kPath);
    const char *at = text.data(), *const end = at + text.size();
    while (true) {
      std::int64_t size = 0;
      const auto [stop, error] = std::from_chars(at, end, size);
      if (error != std::errc() || size < 1 || size > kMaxFeatures)
        fail_at(value, kPath,
                fmt::format("must be whole numbers from 1 to {} joined by '-', as \"784-128-10\", got {}", kMaxFeatures,
                            excerpt(value)));
      sizes.push_back(size);
      if (stop == end) break;
      if (*stop != '-')
        fail_at(value, kPath, fmt::format("the numbers are joined by '-', as \"784-128-10\", got {}", excerpt(value)));
      at = stop + 1;
    }
  }
  if (sizes.size() < 2 || sizes.size() > kMaxSizes)
    fail_at(value, kPath,
            fmt::format("must have 2 to {} sizes, from input to output, got {}", kMaxSizes, sizes.size()));
  return sizes;
}

/// A layer, or "none".
std::optional<LayerSpec> read_activation(const TableReader& table, std::string_view key,
                                         std::optional<LayerSpec> absent) {
  const Value* value = table.find(key);
  if (value == nullptr) return absent;
  if (value->string() != nullptr && *value->string() == "none") return std::nullopt;
  return read_layer(*value, table.path_of(key));
}

void read_size_vector(const TableReader& table, ModelConfig& model) {
  if (table.find("layers") != nullptr) table.fail("sizes", "give either model.sizes or model.layers, not both");
  const std::vector<std::int64_t> sizes = read_sizes(*table.find("sizes"));
  const auto activation = read_activation(table, "activation", LayerSpec(Sigmoid{}));
  const auto output = read_activation(table, "output", std::nullopt);
  if (table.find("input") == nullptr) model.input = {sizes[0]};
  if (model.input.elements() != sizes[0])
    table.fail("sizes", fmt::format("begins with {}, but model.input {} has {} elements", sizes[0], model.input.str(),
                                    model.input.elements()));
  for (std::size_t i = 1; i < sizes.size(); ++i) {
    model.layers.emplace_back(Linear{.out = sizes[i]});
    const auto& after = i + 1 < sizes.size() ? activation : output;
    if (after) model.layers.push_back(*after);
  }
  const std::string origin = fmt::format("{}: model.sizes", table.find("sizes")->origin);
  model.layer_origins.assign(model.layers.size(), origin);
}

void read_layer_list(const TableReader& table, ModelConfig& model) {
  for (const char* key : {"activation", "output"})
    if (table.find(key) != nullptr) table.fail(key, "belongs to model.sizes; put the layer into model.layers");
  const Value& list = table.require("layers", "give model.layers, or model.sizes as \"784-128-10\"");
  model.layers = layers_at(list, {"model.layers"});
  for (std::size_t i = 0; i < model.layers.size(); ++i)
    model.layer_origins.push_back(fmt::format("{}: model.layers[{}]", (*list.array())[i].origin, i));
  if (model.layers.empty()) table.fail("layers", "has no layers");
}

/// {file = "a.safetensors", map = {"conv1" = "0"}}
void read_mapped_init(const Value& value, ModelConfig& model) {
  const TableReader table(value, "model.init", {"file", "map"});
  model.init_file = as_string(table.require("file", "the file of the weights"), "model.init.file");
  const Value* map = table.find("map");
  if (map == nullptr) return;
  if (map->table() == nullptr || map->table()->empty())
    table.fail("map", "must be a table: names in the file = layers of this network, as {\"conv1\" = \"0\"}");
  for (const Entry& entry : *map->table())
    model.init_map.emplace_back(entry.key, as_string(entry.value, fmt::format("model.init.map.{}", entry.key)));
}

/// A name of an initialiser, a table with one, or a file of weights: what has a dot or a slash in it, or a table with
/// it.
void read_model_init(const Value& value, ModelConfig& model) {
  if (value.table() != nullptr && value.find("file") != nullptr) return read_mapped_init(value, model);
  const std::string* text = value.string();
  if (text != nullptr && text->find_first_of("./") != std::string::npos)
    model.init_file = *text;
  else
    read_value(value, {"model.init"}, AnyValue{}, model.init);
}

/// The whole network of an ONNX file, with its weights.
ModelConfig read_model_file(const TableReader& table) {
  for (const std::string& key : model_keys())
    if (key != "file" && table.find(key) != nullptr)
      table.fail(key, "the network comes from model.file; give one of them");
  const std::string path = as_string(*table.find("file"), "model.file");
  if (!is_onnx(path)) table.fail("file", "must be an .onnx file; other files are for model.init");
  const Network network = load_onnx(path).network;
  ModelConfig model{.input = network.input(), .layers = network.layers(), .precision = network.precision()};
  model.init_file = path;
  model.layer_origins.assign(model.layers.size(), fmt::format("{}: model.file", table.find("file")->origin));
  return model;
}

}  // namespace

/// 5 or [5, 3]: height and width.
void read_value(const Value& value, const Place& place, IntRange range, Extent& out) {
  const ValueArray* list = value.array();
  if (list == nullptr) {
    out = as_integer(value, place.path, range);
    return;
  }
  if (list->size() != 2)
    fail_at(value, place.path, fmt::format("must be one number or [height, width], not {} numbers", list->size()));
  out = {as_integer((*list)[0], place.path + "[0]", range), as_integer((*list)[1], place.path + "[1]", range)};
}
void read_value(const Value& value, const Place& place, IntRange range, std::optional<Extent>& out) {
  read_value(value, place, range, out.emplace(1));
}
void read_value(const Value& value, const Place& place, AnyValue any, std::optional<Init>& out) {
  read_value(value, place, any, out.emplace());
}
void read_value(const Value& value, const Place& place, AnyValue, std::vector<LayerSpec>& out) {
  if (place.depth >= kMaxDepth)
    fail_at(value, place.path, fmt::format("more than {} residual blocks inside each other", kMaxDepth));
  out = layers_at(value, {place.path, place.depth + 1});
}

std::string toml_text(const Extent& extent, int) {
  if (extent.height == extent.width) return toml_text(extent.height);
  return fmt::format("[{}, {}]", extent.height, extent.width);
}
std::string toml_text(const std::vector<LayerSpec>& layers, int indent) {
  const std::string margin(static_cast<std::size_t>(indent), ' ');
  std::string text = "[\n";
  for (const LayerSpec& layer : layers) {
    const std::string options = std::visit([&](const auto& l) { return options_toml(l, indent); }, layer.kind);
    const std::string name = layer_type(layer);
    text += margin + (options.empty() ? fmt::format("\"{}\",\n", name) : fmt::format("{{{} = {}}},\n", name, options));
  }
  return text + margin.substr(2) + "]";
}

LayerSpec read_layer(const Value& value, const std::string& path) { return layer_at(value, {path}); }

const std::vector<std::string>& model_keys() {
  static const std::vector<std::string> keys = {"input",  "layers",    "sizes", "activation",
                                                "output", "precision", "init",  "file"};
  return keys;
}

ModelConfig read_model(const Value& section, bool input_from_data) {
  const TableReader table(section, "model", model_keys(), all_keys());
  ModelConfig model;
  if (table.find("file") != nullptr) return read_model_file(table);
  if (const auto precision = table.choice("precision", kPrecisions))
    model.precision = static_cast<Precision>(*precision);
  if (const Value* input = table.find("input")) model.input = read_input(*input);
  if (table.find("sizes") != nullptr)
    read_size_vector(table, model);
  else
    read_layer_list(table, model);
  if (model.input.rank() == 0 && !input_from_data)
    table.require("input", "the shape of one sample, for example [1, 28, 28]");
  if (const Value* init = table.find("init")) read_model_init(*init, model);
  return model;
}

}  // namespace lockstep
