#include "lockstep/model/onnx_import.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "lockstep/core/error.hpp"
#include "lockstep/core/file.hpp"
#include "lockstep/core/names.hpp"
#include "lockstep/data/bytes.hpp"
#include "lockstep/model/onnx_layers.hpp"
#include "lockstep/train/trainer.hpp"

namespace lockstep {

namespace {

constexpr std::int64_t kMostInputs = 1 << 24;
constexpr int kMostDepth = 8;  // of residual blocks in residual blocks

/// The constant x * scale + offset before the first layer: one pair for all features, or one per feature.
struct InputScaling {
  std::vector<double> scale{1}, offset{0};

  void multiply(const std::vector<double>& by) {
    apply(by, [](double& s, double& o, double c) { s *= c, o *= c; });
  }
  void add(const std::vector<double>& what) {
    apply(what, [](double&, double& o, double c) { o += c; });
  }
  bool used() const {
    const auto all = [](const std::vector<double>& values, double same) {
      return std::ranges::all_of(values, [&](double value) { return value == same; });
    };
    return !all(scale, 1) || !all(offset, 0);
  }

 private:
  template <class Change>
  void apply(const std::vector<double>& by, const Change& change) {
    if (by.size() > scale.size()) scale.assign(by.size(), scale[0]), offset.assign(by.size(), offset[0]);
    for (std::size_t i = 0; i < scale.size(); ++i) change(scale[i], offset[i], by[by.size() == 1 ? 0 : i]);
  }
};

/// A stretch of the graph: the layers on the way to `value`, and the Add that ends a branch.
struct Stretch {
  std::vector<ImportedLayer> layers{};
  Shape shape{};
  std::string value{};
  const OnnxNode* sum = nullptr;
};

class Importer {
 public:
  explicit Importer(const OnnxFile& file) : file_(file), constants_(file) {
    for (const OnnxNode& node : file.nodes)
      for (std::size_t i = 0; i < node.inputs.size(); ++i)
        if (constants_.find(node.inputs[i]) == nullptr &&
            std::ranges::find(node.inputs, node.inputs[i]) == node.inputs.begin() + std::ptrdiff_t(i))
          readers_[node.inputs[i]].push_back(&node);
  }

  Model model() {
    check_operators();
    const OnnxValue& input = input_value();
    Stretch all{.shape = shape_of(input), .value = input.name};
    const Shape first = all.shape;
    walk(all, 0);
    if (all.layers.empty()) fail_onnx("the graph has no layers");
    return make(first, all, input.type == onnx_double ? Precision::float64 : Precision::float32);
  }

 private:
  /// All operators that no network here can have, in one message.
  void check_operators() const {
    std::map<std::string, int> unknown;
    for (const OnnxNode& node : file_.nodes)
      if (!is_onnx_operator(node)) ++unknown[printable(node.operation)];
    if (unknown.empty()) return;
    std::vector<std::string> names;
    for (const auto& [name, count] : unknown)
      names.push_back(count > 1 ? fmt::format("{} ({} times)", name, count) : name);
    constexpr std::size_t kShown = 12;
    if (names.size() > kShown) names.resize(kShown), names.emplace_back("...");
    fail_onnx(fmt::format("uses operators that are not supported: {}; supported are {}", fmt::join(names, ", "),
                          onnx_operators()));
  }

  const OnnxValue& input_value() const {
    const OnnxValue* found = nullptr;
    for (const OnnxValue& value : file_.inputs) {
      if (constants_.find(value.name) != nullptr) continue;
      if (found != nullptr) fail_onnx("the graph has several inputs; networks with one are supported");
      found = &value;
    }
    if (found == nullptr) fail_onnx("the graph has no input");
    if (found->type != onnx_float && found->type != onnx_double && found->type != 0)
      fail_onnx(fmt::format("its input has elements of type {}; float32 and float64 are supported", found->type));
    return *found;
  }

  static Shape shape_of(const OnnxValue& input) {
    if (input.dims.size() != 2 && input.dims.size() != 4)
      fail_onnx(fmt::format("its input has {} dimensions; [N, features] and [N, channels, height, width] are supported",
                            input.dims.size()));
    std::int64_t elements = 1;
    for (std::size_t i = 1; i < input.dims.size(); ++i) {
      if (input.dims[i] < 1)
        fail_onnx("the size of its input is not fixed; export it for fixed features, height and width");
      if (input.dims[i] > kMostInputs / elements)
        fail_onnx(fmt::format("its input has more than {} numbers", kMostInputs));
      elements *= input.dims[i];
    }
    return Shape(std::span(input.dims).subspan(1));
  }

  bool is_sum(const OnnxNode& node) const {
    return node.operation == "Add" && node.inputs.size() == 2 && constants_.find(node.inputs[0]) == nullptr &&
           constants_.find(node.inputs[1]) == nullptr;
  }

  /// The nodes that go on from a value. Not those that only make labels of the outputs.
  std::vector<const OnnxNode*> next_of(const Stretch& at) const {
    const auto found = readers_.find(at.value);
    if (found == readers_.end()) return {};
    std::vector<const OnnxNode*> next;
    for (const OnnxNode* node : found->second)
      if (node->operation != "ArgMax" && node->operation != "ZipMap") next.push_back(node);
    // scikit-learn with two classes: p becomes (1 - p, p).
    const bool pair = !at.layers.empty() && std::holds_alternative<Sigmoid>(at.layers.back().spec.kind) &&
                      at.shape.elements() == 1 && std::ranges::all_of(next, [](const OnnxNode* node) {
                        return node->operation == "Sub" || node->operation == "Concat";
                      });
    return pair ? std::vector<const OnnxNode*>{} : next;
  }

  /// Goes on from a value until the graph ends there or, in a branch, an Add joins it with another.
  void walk(Stretch& at, int depth) {
    for (;;) {
      const std::vector<const OnnxNode*> next = next_of(at);
      if (next.empty()) return;
      if (next.size() == 2) {
        residual(at, *next[0], *next[1], depth);
      } else if (next.size() > 2) {
        refuse_node(*next[2], fmt::format("{} nodes read {}; residual blocks have two branches", next.size(),
                                          printable(at.value)));
      } else if (is_sum(*next[0])) {
        if (depth == 0 || next[0]->inputs[0] == next[0]->inputs[1])
          refuse_node(*next[0], "adds values that are not two branches of one");
        at.sum = next[0];
        return;
      } else {
        translate(at, *next[0]);
      }
    }
  }

  void residual(Stretch& at, const OnnxNode& one, const OnnxNode& other, int depth) {
    if (depth == kMostDepth)
      refuse_node(one, fmt::format("more than {} residual blocks inside each other", kMostDepth));
    Stretch branches[2];
    const OnnxNode* const nodes[] = {&one, &other};
    for (int b = 0; b < 2; ++b) {
      branches[b] = {.shape = at.shape, .value = at.value};
      if (is_sum(*nodes[b])) {
        branches[b].sum = nodes[b];
      } else {
        translate(branches[b], *nodes[b]);
        walk(branches[b], depth + 1);
      }
    }
    if (branches[0].sum == nullptr || branches[0].sum != branches[1].sum)
      refuse_node(one, fmt::format("two branches begin at {} that do not end in one Add", printable(at.value)));
    if (!(branches[0].shape == branches[1].shape)) refuse_node(*branches[0].sum, "adds values of different shapes");
    if (branches[0].layers.empty()) std::swap(branches[0], branches[1]);
    if (branches[0].layers.empty()) refuse_node(*branches[0].sum, "adds a value to itself");
    Residual spec;
    for (const ImportedLayer& layer : branches[0].layers) spec.body.push_back(layer.spec);
    for (const ImportedLayer& layer : branches[1].layers) spec.shortcut.push_back(layer.spec);
    at.shape = branches[0].shape;
    at.value = output_of(*branches[0].sum);
    at.layers.push_back(
        {.spec = std::move(spec), .body = std::move(branches[0].layers), .shortcut = std::move(branches[1].layers)});
  }

  static const std::string& output_of(const OnnxNode& node) {
    if (node.outputs.empty()) refuse_node(node, "has no output");
    return node.outputs[0];
  }

  void translate(Stretch& at, const OnnxNode& node) {
    if (++steps_ > file_.nodes.size()) fail_onnx("the graph has a cycle");
    if (node.operation == "Add" || node.operation == "Sub" || node.operation == "Mul" || node.operation == "Div" ||
        node.operation == "Scaler") {
      arithmetic(at, node);
    } else {
      if (node.inputs.empty() || node.inputs[0] != at.value) refuse_node(node, "takes its value as another input");
      for (ImportedLayer& layer : layers_of_node(node, constants_, at.shape)) {
        try {
          at.shape = plan_layer(layer.spec, at.shape, "onnx", {}).out;
        } catch (const Error& error) {
          refuse_node(node, error.what());
        }
        at.layers.push_back(std::move(layer));
      }
    }
    at.value = output_of(node);
  }

  /// With a constant: the bias of a MatMul, or the scaling of the input.
  void arithmetic(Stretch& at, const OnnxNode& node) {
    if (node.operation == "Scaler") {
      if (!at.layers.empty()) refuse_node(node, "is supported before the first layer only");
      scaling_.add(negated(expanded(node, floats_of(node, "offset"), {}, at.shape)));
      scaling_.multiply(expanded(node, floats_of(node, "scale"), {}, at.shape));
      return;
    }
    if (node.inputs.size() != 2) refuse_node(node, "needs two inputs");
    const bool first = node.inputs[0] == at.value;
    const Array& array = constants_.array(node, first ? 1 : 0);
    if (node.operation == "Add" && !at.layers.empty() && take_bias(at.layers.back(), array)) return;
    if (!at.layers.empty()) refuse_node(node, "arithmetic with a constant is supported before the first layer only");
    std::vector<double> values;
    for (std::int64_t i = 0; i < array.elements() && i <= kMostInputs; ++i) values.push_back(array.value(i));
    values = expanded(node, std::move(values), array.dims, at.shape);
    if (!first && (node.operation == "Sub" || node.operation == "Div"))
      refuse_node(node, "a constant minus or divided by a value is not supported");
    if (node.operation == "Add") scaling_.add(values);
    if (node.operation == "Sub") scaling_.add(negated(values));
    if (node.operation == "Mul") scaling_.multiply(values);
    if (node.operation == "Div") {
      for (double& value : values) value = 1 / value;
      scaling_.multiply(values);
    }
  }

  static std::vector<double> floats_of(const OnnxNode& node, const char* name) {
    const auto found = node.attributes.find(name);
    if (found == node.attributes.end() || found->second.floats.empty())
      refuse_node(node, fmt::format("has no {}", name));
    return found->second.floats;
  }
  static std::vector<double> negated(std::vector<double> values) {
    for (double& value : values) value = -value;
    return values;
  }

  /// One number, one for every number of a sample, or one per channel [C, 1, 1].
  static std::vector<double> expanded(const OnnxNode& node, std::vector<double> values,
                                      const std::vector<std::int64_t>& dims, const Shape& shape) {
    const auto size = static_cast<std::int64_t>(values.size());
    if (size == 1 || (size == shape.elements() && shape.rank() == 1)) return values;
    const auto ends_with = [&](const std::vector<std::int64_t>& tail) {
      return dims.size() >= tail.size() && std::equal(tail.rbegin(), tail.rend(), dims.rbegin());
    };
    if (size == shape.elements() && ends_with({shape.extents().begin(), shape.extents().end()})) return values;
    if (shape.rank() != 3 || size != shape[0] || !ends_with({size, 1, 1}))
      refuse_node(node, fmt::format("a constant of {} numbers does not fit samples {}", size, shape.str()));
    std::vector<double> out;
    for (const double value : values) out.insert(out.end(), static_cast<std::size_t>(shape[1] * shape[2]), value);
    return out;
  }

  /// Whether the layer was a linear one without bias, which has got it now.
  static bool take_bias(ImportedLayer& layer, const Array& array) {
    Linear* const linear = std::get_if<Linear>(&layer.spec.kind);
    if (linear == nullptr || linear->bias || array.elements() != linear->out) return false;
    linear->bias = true;
    layer.parameters.push_back(array);
    layer.parameters.back().dims = {linear->out};
    return true;
  }

  static void collect(std::vector<ImportedLayer>& layers, std::vector<Array>& out) {
    for (ImportedLayer& layer : layers) {
      for (Array& array : layer.parameters) out.push_back(std::move(array));
      collect(layer.body, out);
      collect(layer.shortcut, out);
    }
  }

  Model make(const Shape& input, Stretch& all, Precision precision) const {
    Model model{.network = Network(input, precision), .numerics_version = kNumericsVersion, .seal = Seal::none};
    for (const ImportedLayer& layer : all.layers) model.network.add(layer.spec);
    std::vector<Array> arrays;
    collect(all.layers, arrays);
    // In the order of the layers: the vector has running statistics behind all other parameters.
    std::vector<NamedArray> named;
    for_each_layer(model.network.plans(), [&](const LayerPlan& plan) {
      for (const ParameterInfo& info : plan.parameters) {
        if (named.size() == arrays.size()) throw Error(ErrorCode::bug, "an imported network has other parameters");
        named.push_back({info.name, std::move(arrays[named.size()])});
      }
    });
    set_weights(model.network, named, "the graph");
    if (!all_finite(model.network.values())) fail_onnx("holds weights that are not finite numbers");
    if (scaling_.used()) {
      model.info.scale = scaling_.scale, model.info.offset = scaling_.offset;
      for (const auto* values : {&scaling_.scale, &scaling_.offset})
        if (!std::ranges::all_of(*values, [](double v) { return std::isfinite(v); }))
          fail_onnx("scales its input by numbers that are not finite");
      model.info.bytes = takes_bytes(input);
      model.info.white = model.info.bytes ? 255 : 1;
    }
    model.info.loss = loss_of(model.network);
    model.info.class_names = class_names(model.network.output().elements());
    return model;
  }

  /// Whether the graph scales pixels from 0 to 255. Where the file does not say it, the scale of pictures does: it is
  /// about 1/255 for bytes, and about 1 or more for fractions of white.
  bool takes_bytes(const Shape& input) const {
    constexpr double kBetween = 0.06;
    if (file_.metadata.contains("input")) return file_.metadata.contains("white");
    double most = 0;
    for (const double scale : scaling_.scale) most = std::max(most, std::abs(scale));
    return input.rank() == 3 && most < kBetween;
  }

  Loss loss_of(const Network& network) const {
    if (const auto found = file_.metadata.find("loss"); found != file_.metadata.end())
      for (std::size_t i = 0; i < names_of<Loss>().size(); ++i)
        if (found->second == names_of<Loss>()[i]) return static_cast<Loss>(i);
    const LayerKind& last = network.layers().back().kind;
    if (std::holds_alternative<Sigmoid>(last)) return Loss::binary_cross_entropy;
    const bool classes = std::holds_alternative<Softmax>(last) || network.output().elements() > 1;
    return classes ? Loss::cross_entropy : Loss::squared_error;
  }

  std::vector<std::string> class_names(std::int64_t outputs) const {
    std::vector<std::string> names;
    if (const auto found = file_.metadata.find("class_names"); found != file_.metadata.end()) {
      const auto json = nlohmann::json::parse(found->second, nullptr, false);
      if (json.is_array() && std::ranges::all_of(json, [](const auto& each) { return each.is_string(); }))
        names = json.get<std::vector<std::string>>();
    }
    for (const OnnxNode& node : file_.nodes) {
      if (node.operation == "ZipMap")
        for (const auto& [key, value] : node.attributes)
          if (!value.strings.empty()) names = value.strings;
      if (node.operation == "ArrayFeatureExtractor" && !node.inputs.empty())
        if (const OnnxTensor* tensor = constants_.find(node.inputs[0]); tensor != nullptr && !tensor->strings.empty())
          names = tensor->strings;
    }
    return std::ssize(names) == std::max<std::int64_t>(outputs, 2) ? names : std::vector<std::string>{};
  }

  const OnnxFile& file_;
  OnnxConstants constants_;
  std::map<std::string, std::vector<const OnnxNode*>> readers_;  // of every value
  InputScaling scaling_{};
  std::size_t steps_ = 0;
};

}  // namespace

Model import_onnx(std::span<const std::byte> bytes, std::string_view name) {
  const OnnxFile file = parse_onnx(bytes, name);
  try {
    return Importer(file).model();
  } catch (const Error& error) {
    if (error.code() == ErrorCode::resources || error.code() == ErrorCode::bug) throw;
    throw Error(ErrorCode::data, fmt::format("{}: {}", name, error.what()));
  }
}

Model load_onnx(const std::filesystem::path& path) {
  return import_onnx(read_file(path, std::numeric_limits<std::int32_t>::max()), path.string());
}

std::vector<NamedArray> onnx_weights(const std::filesystem::path& path) {
  OnnxFile file = read_onnx(path);
  std::vector<NamedArray> arrays;
  for (auto& [name, tensor] : file.constants)
    if (tensor.readable() && tensor.array.type != ElementType::int64 && tensor.array.type != ElementType::int32)
      arrays.push_back({name, std::move(tensor.array)});
  return arrays;
}

bool is_onnx(const std::filesystem::path& path) { return path.extension() == ".onnx"; }

}  // namespace lockstep
