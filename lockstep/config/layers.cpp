#include <fmt/format.h>

#include <algorithm>

#include "lockstep/config/record_reader.hpp"
#include "lockstep/config/record_writer.hpp"
#include "lockstep/config/sections.hpp"
#include "lockstep/config/suggest.hpp"

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

std::vector<LayerSpec> read_layers(const Value& list, const std::string& path) { return layers_at(list, {path}); }

LayerSpec read_layer(const Value& value, const std::string& path) { return layer_at(value, {path}); }

}  // namespace lockstep
