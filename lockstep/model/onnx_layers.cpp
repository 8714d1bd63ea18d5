#include "lockstep/model/onnx_layers.hpp"

#include <algorithm>
#include <functional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lockstep/core/error.hpp"
#include "lockstep/data/bytes.hpp"

namespace lockstep {

namespace {

using Layers = std::vector<ImportedLayer>;

std::int64_t integer_of(const OnnxNode& node, const std::string& name, std::int64_t absent) {
  const auto found = node.attributes.find(name);
  return found == node.attributes.end() ? absent : found->second.i.value_or(absent);
}
double real_of(const OnnxNode& node, const std::string& name, double absent) {
  const auto found = node.attributes.find(name);
  return found == node.attributes.end() ? absent : found->second.f.value_or(absent);
}
std::vector<std::int64_t> integers_of(const OnnxNode& node, const std::string& name) {
  const auto found = node.attributes.find(name);
  return found == node.attributes.end() ? std::vector<std::int64_t>{} : found->second.ints;
}

bool is_image(const Shape& shape) { return shape.rank() == 3; }

Extent pair_of(const OnnxNode& node, const std::string& name, std::int64_t absent) {
  const auto values = integers_of(node, name);
  if (values.empty()) return {absent, absent};
  constexpr std::int64_t kMost = 1 << 16;
  if (values.size() != 2 || std::ranges::any_of(values, [](std::int64_t v) { return v < 0 || v > kMost; }))
    refuse_node(node, fmt::format("{} must be two numbers, height and width", name));
  return {values[0], values[1]};
}

/// Both sides alike: [top, left, bottom, right].
Extent pads_of(const OnnxNode& node) {
  if (const auto found = node.attributes.find("auto_pad"); found != node.attributes.end()) {
    const std::string& how = found->second.s;
    if (how != "NOTSET" && how != "VALID")
      refuse_node(node, fmt::format("auto_pad = {} is not supported; export it with pads", printable(how)));
  }
  const auto values = integers_of(node, "pads");
  if (values.empty()) return 0;
  if (values.size() != 4 || values[0] != values[2] || values[1] != values[3] || values[0] < 0 || values[1] < 0)
    refuse_node(node, "pads must be the same on both sides of height and width");
  return {values[0], values[1]};
}

const Array& weights(const OnnxNode& node, const OnnxConstants& constants, std::size_t input, int rank) {
  const Array& array = constants.array(node, input);
  if (array.rank() != rank)
    refuse_node(node, fmt::format("its weights have {} dimensions, not {}", array.rank(), rank));
  return array;
}

/// As a list of `count` numbers, whatever its shape.
Array flat(const OnnxNode& node, const Array& array, std::int64_t count) {
  if (array.elements() != count)
    refuse_node(node, fmt::format("a list of {} numbers is needed, not of {}", count, array.elements()));
  Array out = array;
  out.dims = {count};
  return out;
}

Array transposed(const Array& array) {
  Array out = array;
  std::swap(out.dims[0], out.dims[1]);
  const auto size = static_cast<std::size_t>(element_size(array.type));
  const std::int64_t rows = array.dims[0], columns = array.dims[1];
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < columns; ++c)
      std::copy_n(array.bytes.begin() + (r * columns + c) * std::int64_t(size), size,
                  out.bytes.begin() + (c * rows + r) * std::int64_t(size));
  return out;
}

bool has_input(const OnnxNode& node, std::size_t input) {
  return node.inputs.size() > input && !node.inputs[input].empty();
}

Layers conv(const OnnxNode& node, const OnnxConstants& constants, const Shape& shape) {
  const Array& w = weights(node, constants, 1, 4);
  if (!is_image(shape)) refuse_node(node, fmt::format("takes images, not {}", shape.str()));
  Conv2d layer{.out = w.dims[0],
               .kernel = {w.dims[2], w.dims[3]},
               .stride = pair_of(node, "strides", 1),
               .pad = pads_of(node),
               .dilation = pair_of(node, "dilations", 1),
               .groups = integer_of(node, "group", 1),
               .bias = has_input(node, 2)};
  ImportedLayer out{.spec = layer, .parameters = {w}};
  if (layer.bias) out.parameters.push_back(flat(node, constants.array(node, 2), layer.out));
  return {std::move(out)};
}

/// x [N, in] times w; flattened before where x are images.
Layers linear(const OnnxNode& node, const OnnxConstants& constants, const Shape& shape, bool gemm) {
  const Array& given = weights(node, constants, 1, 2);
  if (shape.rank() != 1)
    refuse_node(node, fmt::format("takes lists of numbers, not {}; flatten them before", shape.str()));
  if (gemm && (real_of(node, "alpha", 1) != 1 || real_of(node, "beta", 1) != 1 || integer_of(node, "transA", 0) != 0))
    refuse_node(node, "alpha and beta must be 1, and transA 0");
  Array w = gemm && integer_of(node, "transB", 0) != 0 ? given : transposed(given);
  Linear layer{.out = w.dims[0], .bias = gemm && has_input(node, 2)};
  ImportedLayer out{.spec = layer};
  out.parameters.push_back(std::move(w));
  if (layer.bias) out.parameters.push_back(flat(node, constants.array(node, 2), layer.out));
  return {std::move(out)};
}

template <class Pool>
Layers pool(const OnnxNode& node, const OnnxConstants&, const Shape& shape) {
  if (!is_image(shape)) refuse_node(node, fmt::format("takes images, not {}", shape.str()));
  if (integer_of(node, "ceil_mode", 0) != 0) refuse_node(node, "ceil_mode = 1 is not supported");
  if (!(pair_of(node, "dilations", 1) == Extent(1))) refuse_node(node, "dilations are not supported");
  const Extent pad = pads_of(node);
  if (std::is_same_v<Pool, AvgPool2d> && !(pad == Extent(0)) && integer_of(node, "count_include_pad", 0) == 0)
    refuse_node(node, "means without the padding (count_include_pad = 0) are not supported");
  return {
      {.spec = Pool{.window = pair_of(node, "kernel_shape", 1), .stride = pair_of(node, "strides", 1), .pad = pad}}};
}

template <class Pool>
Layers global_pool(const OnnxNode& node, const OnnxConstants&, const Shape& shape) {
  if (!is_image(shape)) refuse_node(node, fmt::format("takes images, not {}", shape.str()));
  return {{.spec = Pool{.window = {shape[1], shape[2]}}}};
}

Layers reduce_mean(const OnnxNode& node, const OnnxConstants& constants, const Shape& shape) {
  std::vector<std::int64_t> axes = has_input(node, 1) ? constants.integers(node, 1) : integers_of(node, "axes");
  for (std::int64_t& axis : axes) axis = axis < 0 ? axis + 4 : axis;
  std::ranges::sort(axes);
  if (!is_image(shape) || axes != std::vector<std::int64_t>{2, 3})
    refuse_node(node, "is supported over height and width of images only");
  Layers layers = global_pool<AvgPool2d>(node, constants, shape);
  if (integer_of(node, "keepdims", 1) == 0) layers.push_back({.spec = Flatten{}});
  return layers;
}

Layers batch_norm(const OnnxNode& node, const OnnxConstants& constants, const Shape& shape) {
  if (node.inputs.size() < 5 || shape.rank() == 0) refuse_node(node, "has fewer than five inputs");
  ImportedLayer out{.spec = BatchNorm{.momentum = std::clamp(1 - real_of(node, "momentum", 0.9), 1e-6, 1.0),
                                      .eps = real_of(node, "epsilon", 1e-5)}};
  for (std::size_t input = 1; input < 5; ++input)
    out.parameters.push_back(flat(node, constants.array(node, input), shape[0]));
  return {std::move(out)};
}

Layers layer_norm(const OnnxNode& node, const OnnxConstants& constants, const Shape& shape) {
  const std::int64_t axis = integer_of(node, "axis", -1);
  if (axis != 1 && axis + shape.rank() != 0) refuse_node(node, "is supported over all numbers of a sample only");
  ImportedLayer out{.spec = LayerNorm{.eps = real_of(node, "epsilon", 1e-5)}};
  for (std::size_t input = 1; input < 3; ++input) {
    if (!has_input(node, input)) refuse_node(node, "needs scale and bias");
    Array array = flat(node, constants.array(node, input), shape.elements());
    array.dims.assign(shape.extents().begin(), shape.extents().end());
    out.parameters.push_back(std::move(array));
  }
  return {std::move(out)};
}

Layers flatten(const OnnxNode& node, const OnnxConstants&, const Shape& shape) {
  if (integer_of(node, "axis", 1) != 1) refuse_node(node, "is supported with axis = 1 only");
  if (shape.rank() == 1) return {};
  return {{.spec = Flatten{}}};
}

/// To [N, all numbers], or to the shape it has. A shape that is computed from that of x is taken for the former where
/// its rank says so: x.view(x.size(0), -1).
Layers reshape(const OnnxNode& node, const OnnxConstants& constants, const Shape& shape) {
  if (node.inputs.size() < 2) refuse_node(node, "has no shape");
  const std::vector<std::int64_t> to = constants.integers(node, 1);
  const auto extents = shape.extents();
  if (to.size() == extents.size() + 1 && to[0] <= 1 && std::equal(extents.begin(), extents.end(), to.begin() + 1))
    return {};
  const bool rows = to.size() == 2 && to[0] <= 0 && (to[1] == shape.elements() || (to[1] == -1 && to[0] == 0));
  const bool one_row = to.size() == 2 && to[0] == 1 && (to[1] == shape.elements() || to[1] == -1);
  if (!rows && !one_row)
    refuse_node(node, fmt::format("is supported to [N, {}] only, not to [{}]", shape.elements(), fmt::join(to, ", ")));
  if (shape.rank() == 1) return {};
  return {{.spec = Flatten{}}};
}

Layers softmax(const OnnxNode& node, const OnnxConstants&, const Shape& shape) {
  const std::int64_t axis = integer_of(node, "axis", -1);
  if (shape.rank() != 1 || (axis != 1 && axis != -1)) refuse_node(node, "is supported over a list of numbers only");
  return {{.spec = Softmax{}}};
}

template <class Kind>
Layers plain(const OnnxNode&, const OnnxConstants&, const Shape&) {
  return {{.spec = Kind{}}};
}
Layers nothing(const OnnxNode&, const OnnxConstants&, const Shape&) { return {}; }
Layers leaky_relu(const OnnxNode& node, const OnnxConstants&, const Shape&) {
  return {{.spec = LeakyRelu{.slope = real_of(node, "alpha", 0.01)}}};
}
Layers gemm(const OnnxNode& node, const OnnxConstants& constants, const Shape& shape) {
  return linear(node, constants, shape, true);
}
Layers matmul(const OnnxNode& node, const OnnxConstants& constants, const Shape& shape) {
  return linear(node, constants, shape, false);
}

using NodeReader = Layers (*)(const OnnxNode&, const OnnxConstants&, const Shape&);
const std::map<std::string, NodeReader>& readers() {
  static const std::map<std::string, NodeReader> all = {
      {"Conv", conv},
      {"Gemm", gemm},
      {"MatMul", matmul},
      {"Relu", plain<Relu>},
      {"LeakyRelu", leaky_relu},
      {"Sigmoid", plain<Sigmoid>},
      {"Tanh", plain<Tanh>},
      {"Softmax", softmax},
      {"MaxPool", pool<MaxPool2d>},
      {"AveragePool", pool<AvgPool2d>},
      {"GlobalAveragePool", global_pool<AvgPool2d>},
      {"GlobalMaxPool", global_pool<MaxPool2d>},
      {"ReduceMean", reduce_mean},
      {"BatchNormalization", batch_norm},
      {"LayerNormalization", layer_norm},
      {"Flatten", flatten},
      {"Reshape", reshape},
      {"Dropout", nothing},
      {"Identity", nothing},
      {"Cast", nothing},
  };
  return all;
}

/// That the walk over the graph knows itself (onnx_import.cpp).
const std::set<std::string>& other_operators() {
  static const std::set<std::string> all = {
      "Add", "ArgMax", "ArrayFeatureExtractor", "Concat", "Constant", "Div", "Mul", "Scaler", "Sub", "ZipMap"};
  return all;
}

}  // namespace

void refuse_node(const OnnxNode& node, const std::string& what) {
  const std::string& name = node.name.empty() && !node.outputs.empty() ? node.outputs[0] : node.name;
  throw Error(ErrorCode::data, fmt::format("{} {}: {}", printable(node.operation), printable(name), what));
}

OnnxConstants::OnnxConstants(const OnnxFile& file) {
  for (const auto& [name, tensor] : file.constants) all_[name] = &tensor;
  for (const OnnxNode& node : file.nodes) {
    if (node.outputs.empty()) continue;
    const auto value = node.attributes.find("value");
    if (node.operation == "Constant" && value != node.attributes.end() && value->second.tensor)
      all_[node.outputs[0]] = &*value->second.tensor;
    // Weights that several layers share pass through one; nodes stand in the order in which they run.
    if (node.operation == "Identity" && !node.inputs.empty())
      if (const OnnxTensor* same = find(node.inputs[0])) all_[node.outputs[0]] = same;
  }
}

const OnnxTensor* OnnxConstants::find(const std::string& name) const {
  const auto found = all_.find(name);
  return found == all_.end() ? nullptr : found->second;
}

const Array& OnnxConstants::array(const OnnxNode& node, std::size_t input) const {
  const OnnxTensor* const tensor = input < node.inputs.size() ? find(node.inputs[input]) : nullptr;
  if (tensor == nullptr) refuse_node(node, fmt::format("input {} must be a constant", input));
  if (!tensor->readable())
    refuse_node(node, fmt::format("input {} holds elements of type {}; float32 and float64 are supported", input,
                                  tensor->type));
  return tensor->array;
}

std::vector<std::int64_t> OnnxConstants::integers(const OnnxNode& node, std::size_t input) const {
  const Array& values = array(node, input);
  constexpr std::int64_t kMost = 64;
  if (values.elements() > kMost) refuse_node(node, fmt::format("input {} has too many numbers", input));
  std::vector<std::int64_t> out;
  for (std::int64_t i = 0; i < values.elements(); ++i) {
    const double value = values.value(i);
    if (!(value > -1e15 && value < 1e15)) refuse_node(node, fmt::format("input {} is out of range", input));
    out.push_back(static_cast<std::int64_t>(value));
  }
  return out;
}

bool is_onnx_operator(const OnnxNode& node) {
  return readers().contains(node.operation) || other_operators().contains(node.operation);
}

std::string onnx_operators() {
  std::string out;
  for (const auto& [name, reader] : readers()) out += (out.empty() ? "" : ", ") + name;
  return out + ", and Add of two branches";
}

std::vector<ImportedLayer> layers_of_node(const OnnxNode& node, const OnnxConstants& constants, const Shape& shape) {
  const auto found = readers().find(node.operation);
  if (found == readers().end()) refuse_node(node, "has no place here");
  return found->second(node, constants, shape);
}

}  // namespace lockstep
