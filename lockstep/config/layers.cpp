#include <fmt/format.h>

#include <functional>

#include "lockstep/config/reader.hpp"
#include "lockstep/config/sections.hpp"
#include "lockstep/config/suggest.hpp"

namespace lockstep {

namespace {

constexpr std::int64_t kMaxOut = 1 << 24;
constexpr std::int64_t kMaxWindow = 4096;
constexpr std::size_t kMaxLayers = 4096;
constexpr int kMaxDepth = 8;  // of residual blocks in residual blocks

/// 5 or [5, 3]: height and width.
Extent as_extent(const Value& value, const std::string& path, IntRange range) {
  const ValueArray* list = value.array();
  if (list == nullptr) return as_integer(value, path, range);
  if (list->size() != 2)
    fail_at(value, path, fmt::format("must be one number or [height, width], not {} numbers", list->size()));
  return {as_integer((*list)[0], path + "[0]", range), as_integer((*list)[1], path + "[1]", range)};
}

void read(const TableReader& table, std::string_view key, Extent& out, IntRange range) {
  if (const Value* value = table.find(key)) out = as_extent(*value, table.path_of(key), range);
}

void read(const TableReader& table, std::string_view key, std::optional<Init>& out) {
  if (const Value* value = table.find(key)) out = read_init(*value, table.path_of(key));
}

// The parameter of each layer: `options` is what stands after its name, null for the bare name. A layer that has
// one main number takes it in place of the table.

LayerSpec linear(const Value& options, const std::string& path) {
  Linear layer;
  if (options.table() == nullptr) {
    layer.out = as_integer(options, path, {1, kMaxOut});
    return layer;
  }
  const TableReader table(options, path, {"out", "bias", "init"});
  layer.out = as_integer(table.require("out", "the number of outputs"), table.path_of("out"), {1, kMaxOut});
  table.read("bias", layer.bias);
  read(table, "init", layer.init);
  return layer;
}

LayerSpec conv2d(const Value& options, const std::string& path) {
  const TableReader table(options, path, {"out", "kernel", "stride", "pad", "dilation", "groups", "bias", "init"});
  Conv2d layer;
  layer.out = as_integer(table.require("out", "the number of output channels"), table.path_of("out"), {1, kMaxOut});
  table.require("kernel", "the size of the window, for example 3 or [3, 5]");
  read(table, "kernel", layer.kernel, {1, kMaxWindow});
  read(table, "stride", layer.stride, {1, kMaxWindow});
  read(table, "pad", layer.pad, {0, kMaxWindow});
  read(table, "dilation", layer.dilation, {1, kMaxWindow});
  table.read("groups", layer.groups, {1, kMaxOut});
  table.read("bias", layer.bias);
  read(table, "init", layer.init);
  return layer;
}

template <class Pool>
LayerSpec pool(const Value& options, const std::string& path) {
  Pool layer;
  if (options.table() == nullptr) {
    layer.window = as_extent(options, path, {1, kMaxWindow});
    return layer;
  }
  const TableReader table(options, path, {"window", "stride", "pad"});
  read(table, "window", layer.window, {1, kMaxWindow});
  if (const Value* stride = table.find("stride"))
    layer.stride = as_extent(*stride, table.path_of("stride"), {1, kMaxWindow});
  read(table, "pad", layer.pad, {0, kMaxWindow});
  return layer;
}

/// A layer with one number: {dropout = 0.5} or {dropout = {p = 0.5}}.
template <class Layer>
LayerSpec one_number(const Value& options, const std::string& path, const char* key, double Layer::*field,
                     NumberRange range) {
  Layer layer;
  if (options.table() == nullptr)
    layer.*field = as_number(options, path, range);
  else
    TableReader(options, path, {key}).read(key, layer.*field, range);
  return layer;
}

LayerSpec batch_norm(const Value& options, const std::string& path) {
  const TableReader table(options, path, {"momentum", "eps"});
  BatchNorm layer;
  table.read("momentum", layer.momentum, {.max = 1, .open_min = true});
  table.read("eps", layer.eps, kPositive);
  return layer;
}

template <class Layer>
LayerSpec no_options(const Value& options, const std::string& path) {
  if (options.table() == nullptr || !options.table()->empty())
    fail_at(options, path, "takes no options: write its name alone, as a string");
  return Layer{};
}

LayerSpec layer_at_depth(const Value& value, const std::string& path, int depth);

std::vector<LayerSpec> layers_at_depth(const Value& list, const std::string& path, int depth) {
  const ValueArray& values = as_array(list, path);
  if (values.size() > kMaxLayers)
    fail_at(list, path, fmt::format("has {} layers, at most {} are allowed", values.size(), kMaxLayers));
  std::vector<LayerSpec> layers;
  for (std::size_t i = 0; i < values.size(); ++i)
    layers.push_back(layer_at_depth(values[i], fmt::format("{}[{}]", path, i), depth));
  return layers;
}

LayerSpec residual(const Value& options, const std::string& path, int depth) {
  if (depth >= kMaxDepth)
    fail_at(options, path, fmt::format("more than {} residual blocks inside each other", kMaxDepth));
  const TableReader table(options, path, {"body", "shortcut"});
  Residual layer;
  const Value& body = table.require("body", "the list of layers whose result is added to the input");
  layer.body = layers_at_depth(body, table.path_of("body"), depth + 1);
  if (layer.body.empty()) table.fail("body", "has no layers");
  if (const Value* shortcut = table.find("shortcut"))
    layer.shortcut = layers_at_depth(*shortcut, table.path_of("shortcut"), depth + 1);
  return layer;
}

struct Builder {
  std::string name;
  std::string needs;  // empty: the name alone, as a string, is a layer; else an example of what must follow it
  std::function<LayerSpec(const Value&, const std::string&, int)> build;
};

const std::vector<Builder>& builders() {
  const auto plain = [](auto f) { return [f](const Value& v, const std::string& p, int) { return f(v, p); }; };
  static const std::vector<Builder> all = {
      {"linear", "{linear = 10}", plain(linear)},
      {"conv2d", "{conv2d = {out = 6, kernel = 5}}", plain(conv2d)},
      {"max_pool2d", "", plain(pool<MaxPool2d>)},
      {"avg_pool2d", "", plain(pool<AvgPool2d>)},
      {"relu", "", plain(no_options<Relu>)},
      {"leaky_relu", "", plain([](const Value& v, const std::string& p) {
         return one_number(v, p, "slope", &LeakyRelu::slope, kFraction);
       })},
      {"tanh", "", plain(no_options<Tanh>)},
      {"abs_tanh", "", plain(no_options<AbsTanh>)},
      {"sigmoid", "", plain([](const Value& v, const std::string& p) {
         return one_number(v, p, "lambda", &Sigmoid::lambda, kPositive);
       })},
      {"gelu", "", plain(no_options<Gelu>)},
      {"softmax", "", plain(no_options<Softmax>)},
      {"batch_norm", "", plain(batch_norm)},
      {"dropout", "",
       plain([](const Value& v, const std::string& p) { return one_number(v, p, "p", &Dropout::p, kFraction); })},
      {"flatten", "", plain(no_options<Flatten>)},
      {"residual", "{residual = {body = [...]}}", residual},
  };
  return all;
}

const Builder& find_builder(const std::string& name, const Value& at, const std::string& path) {
  std::vector<std::string> names;
  for (const Builder& builder : builders()) {
    if (builder.name == name) return builder;
    names.push_back(builder.name);
  }
  fail_at(at, path, fmt::format("unknown layer {}{}", excerpt(Value{name}), suggestion(name, names)));
}

LayerSpec layer_at_depth(const Value& value, const std::string& path, int depth) {
  if (const std::string* name = value.string()) {
    const Builder& builder = find_builder(*name, value, path);
    if (!builder.needs.empty()) fail_at(value, path, fmt::format("\"{}\" needs options, as {}", *name, builder.needs));
    return builder.build(Value{ValueTable{}, value.origin}, fmt::format("{}.{}", path, *name), depth);
  }
  const ValueTable* table = value.table();
  if (table == nullptr || table->size() != 1)
    fail_at(value, path,
            fmt::format("a layer is a name or a table with one key, as \"relu\" or {{linear = 10}}, not {}",
                        excerpt(value)));
  const Entry& entry = table->front();
  return find_builder(entry.key, entry.value, path).build(entry.value, fmt::format("{}.{}", path, entry.key), depth);
}

}  // namespace

std::vector<LayerSpec> read_layers(const Value& list, const std::string& path) {
  return layers_at_depth(list, path, 0);
}

LayerSpec read_layer(const Value& value, const std::string& path) { return layer_at_depth(value, path, 0); }

}  // namespace lockstep
