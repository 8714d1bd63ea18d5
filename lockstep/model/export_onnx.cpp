#include "lockstep/model/export_onnx.hpp"

#include <algorithm>
#include <string>

#include "lockstep/model/onnx_graph.hpp"

namespace lockstep {
namespace {

/// Turns layers into nodes. Each operator() takes the name of the layer's input and returns that of its output.
class Exporter {
 public:
  explicit Exporter(const Network& network) : network_(network), graph_(network.precision()) {
    for (const ParameterInfo& info : network_.parameters()) add_parameter(info);
  }

  std::vector<std::byte> run() {
    const std::string result = sequence(network_.plans(), OnnxGraph::kInput);
    return graph_.finish(result, network_.input(), network_.output());
  }

 private:
  void add_parameter(const ParameterInfo& info) {
    std::visit(
        [&](const auto& values) {
          const auto slice =
              values.span().subspan(static_cast<std::size_t>(info.offset), static_cast<std::size_t>(info.elements()));
          graph_.tensor(info.name, info.shape, std::as_bytes(slice));
        },
        network_.values());
  }

  std::string sequence(const std::vector<LayerPlan>& plans, std::string value) {
    for (const LayerPlan& plan : plans)
      value = std::visit([&](const auto& layer) { return nodes(layer, plan, value); }, plan.spec.kind);
    return value;
  }

  std::string flattened(const LayerPlan& plan, const std::string& x) {
    if (plan.in.rank() == 1) return x;
    return graph_.node("Flatten", {x}, plan.path, {{"axis", std::int64_t{1}}});
  }

  /// weight and, where there is one, bias of the layer, behind x.
  static std::vector<std::string> with_parameters(const std::string& x, const LayerPlan& plan) {
    std::vector<std::string> inputs{x};
    for (const ParameterInfo& info : plan.parameters) inputs.push_back(info.name);
    return inputs;
  }

  std::string nodes(const Linear&, const LayerPlan& plan, const std::string& x) {
    return graph_.node("Gemm", with_parameters(flattened(plan, x), plan), plan.path, {{"transB", std::int64_t{1}}});
  }

  std::string nodes(const Conv2d& c, const LayerPlan& plan, const std::string& x) {
    return graph_.node("Conv", with_parameters(x, plan), plan.path,
                       {{"kernel_shape", {c.kernel.height, c.kernel.width}},
                        {"strides", {c.stride.height, c.stride.width}},
                        {"pads", {c.pad.height, c.pad.width, c.pad.height, c.pad.width}},
                        {"dilations", {c.dilation.height, c.dilation.width}},
                        {"group", c.groups}});
  }

  template <class Pool>
  static std::vector<OnnxAttribute> pool_attributes(const Pool& p) {
    const Extent stride = p.stride.value_or(p.window);
    return {{"kernel_shape", {p.window.height, p.window.width}},
            {"strides", {stride.height, stride.width}},
            {"pads", {p.pad.height, p.pad.width, p.pad.height, p.pad.width}}};
  }

  std::string nodes(const MaxPool2d& p, const LayerPlan& plan, const std::string& x) {
    return graph_.node("MaxPool", {x}, plan.path, pool_attributes(p));
  }

  std::string nodes(const AvgPool2d& p, const LayerPlan& plan, const std::string& x) {
    std::vector<OnnxAttribute> attributes = pool_attributes(p);
    attributes.emplace_back("count_include_pad", std::int64_t{1});
    return graph_.node("AveragePool", {x}, plan.path, attributes);
  }

  std::string nodes(const Relu&, const LayerPlan& plan, const std::string& x) {
    return graph_.node("Relu", {x}, plan.path);
  }
  std::string nodes(const LeakyRelu& l, const LayerPlan& plan, const std::string& x) {
    return graph_.node("LeakyRelu", {x}, plan.path, {{"alpha", l.slope}});
  }
  std::string nodes(const Tanh&, const LayerPlan& plan, const std::string& x) {
    return graph_.node("Tanh", {x}, plan.path);
  }
  std::string nodes(const AbsTanh&, const LayerPlan& plan, const std::string& x) {
    return graph_.node("Abs", {graph_.node("Tanh", {x}, plan.path)}, plan.path);
  }
  std::string nodes(const Sigmoid& s, const LayerPlan& plan, const std::string& x) {
    const std::string scaled = s.lambda == 1 ? x : graph_.node("Mul", {x, graph_.scalar(s.lambda)}, plan.path);
    return graph_.node("Sigmoid", {scaled}, plan.path);
  }

  /// 0.5 x (1 + tanh(c (x + a x^3))): the operator Gelu comes with opset 20 only.
  std::string nodes(const Gelu&, const LayerPlan& plan, const std::string& x) {
    const auto add = [&](const std::string& a, const std::string& b) { return graph_.node("Add", {a, b}, plan.path); };
    const auto mul = [&](const std::string& a, const std::string& b) { return graph_.node("Mul", {a, b}, plan.path); };
    const std::string cube = mul(mul(graph_.scalar(0.044715), mul(x, x)), x);
    const std::string u = mul(graph_.scalar(0.7978845608028654), add(cube, x));
    return mul(mul(graph_.scalar(0.5), x), add(graph_.scalar(1), graph_.node("Tanh", {u}, plan.path)));
  }

  /// Over all features of a sample, whatever its shape.
  std::string nodes(const Softmax&, const LayerPlan& plan, const std::string& x) {
    std::string y = graph_.node("Softmax", {flattened(plan, x)}, plan.path, {{"axis", std::int64_t{1}}});
    if (plan.in.rank() == 1) return y;
    std::vector<std::int64_t> shape{-1};
    std::ranges::copy(plan.in.extents(), std::back_inserter(shape));
    return graph_.node("Reshape", {y, graph_.integers(plan.path + ".shape", shape)}, plan.path);
  }

  std::string nodes(const BatchNorm& b, const LayerPlan& plan, const std::string& x) {
    return graph_.node("BatchNormalization", with_parameters(x, plan), plan.path, {{"epsilon", b.eps}});
  }

  std::string nodes(const Dropout&, const LayerPlan&, const std::string& x) { return x; }
  std::string nodes(const Flatten&, const LayerPlan& plan, const std::string& x) { return flattened(plan, x); }

  std::string nodes(const Residual&, const LayerPlan& plan, const std::string& x) {
    const std::string body = sequence(plan.body, x);
    return graph_.node("Add", {body, sequence(plan.shortcut, x)}, plan.path);
  }

  const Network& network_;
  OnnxGraph graph_;
};

}  // namespace

std::vector<std::byte> write_onnx(const Network& network) { return Exporter(network).run(); }

}  // namespace lockstep
