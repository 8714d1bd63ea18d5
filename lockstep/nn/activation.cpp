#include "lockstep/nn/activation.hpp"

#include <fmt/format.h>

#include "lockstep/nn/layer.hpp"
#include "lockstep/nn/onnx.hpp"

namespace lockstep {

namespace {

/// y = f(x), element by element: the table of formulas stands in kernels/activation.hpp
template <class T>
class ActivationLayer : public Layer<T> {
 public:
  ActivationLayer(const LayerPlan& plan, ActivationKind kind, double slope = 0)
      : Layer<T>(plan), kind_(kind), slope_(slope) {}

  /// Where the derivative follows from y, x is not needed any more. For the two piecewise linear kinds y > 0 exactly
  /// when x > 0 (a slope of 0 included).
  bool in_place() const override { return kind_ != ActivationKind::abs_tanh && kind_ != ActivationKind::gelu; }
  bool backward_reads_y() const override { return kind_ != ActivationKind::gelu; }
  bool backward_in_place() const override { return true; }

  Sharing sharing() const override { return Sharing::by_channel; }

  void forward(const Pass<T>& pass, const LayerViews<T>& v, LayerMemory<T>&) const override {
    pass.kernels.activation_forward({.kind = kind_, .slope = T(slope_), .x = v.x, .y = v.y}, pass.context);
  }

  /// dx = dy f'(x)
  void backward(const Pass<T>& pass, const LayerViews<T>& v, LayerMemory<T>&) const override {
    if (v.dx.data == nullptr) return;
    pass.kernels.activation_backward({.kind = kind_, .slope = T(slope_), .x = v.x, .y = v.y, .dy = v.dy, .dx = v.dx},
                                     pass.context);
  }

  Cost own_forward_cost(std::int64_t samples) const override {
    return activation_cost(kind_, this->plan().in.elements(), samples, sizeof(T));
  }

 private:
  ActivationKind kind_;
  double slope_;
};

/// 0.5 x (1 + tanh(c (x + a x^3))): the operator Gelu comes with opset 20 only.
std::string gelu_nodes(OnnxBuilder& graph, const LayerPlan& plan, const std::string& x) {
  const auto add = [&](const std::string& a, const std::string& b) { return graph.node("Add", {a, b}, plan.path); };
  const auto mul = [&](const std::string& a, const std::string& b) { return graph.node("Mul", {a, b}, plan.path); };
  const std::string cube = mul(mul(graph.scalar(0.044715), mul(x, x)), x);
  const std::string u = mul(graph.scalar(0.7978845608028654), add(cube, x));
  return mul(mul(graph.scalar(0.5), x), add(graph.scalar(1), graph.node("Tanh", {u}, plan.path)));
}

}  // namespace

template <ActivationKind kKind>
std::string PlainActivation<kKind>::onnx(OnnxBuilder& graph, const LayerPlan& plan, const std::string& x) const {
  if constexpr (kKind == ActivationKind::gelu) return gelu_nodes(graph, plan, x);
  const std::string y = graph.node(kKind == ActivationKind::relu ? "Relu" : "Tanh", {x}, plan.path);
  return kKind == ActivationKind::abs_tanh ? graph.node("Abs", {y}, plan.path) : y;
}

std::string LeakyRelu::onnx(OnnxBuilder& graph, const LayerPlan& plan, const std::string& x) const {
  return graph.node("LeakyRelu", {x}, plan.path, {{"alpha", slope}});
}

std::string Sigmoid::onnx(OnnxBuilder& graph, const LayerPlan& plan, const std::string& x) const {
  const std::string scaled = lambda == 1 ? x : graph.node("Mul", {x, graph.scalar(lambda)}, plan.path);
  return graph.node("Sigmoid", {scaled}, plan.path);
}

void LeakyRelu::plan(LayerPlan& plan, const Init&) const { require(plan, slope >= 0, "slope must not be negative"); }
void Sigmoid::plan(LayerPlan& plan, const Init&) const { require(plan, lambda > 0, "lambda must be above 0"); }
std::string Sigmoid::detail() const { return lambda == 1 ? "" : fmt::format("lambda {}", lambda); }

template <ActivationKind kKind>
template <class T>
std::unique_ptr<Layer<T>> PlainActivation<kKind>::make(const LayerPlan& plan) const {
  return std::make_unique<ActivationLayer<T>>(plan, kKind);
}
template struct PlainActivation<ActivationKind::relu>;
template struct PlainActivation<ActivationKind::tanh>;
template struct PlainActivation<ActivationKind::abs_tanh>;
template struct PlainActivation<ActivationKind::gelu>;
LOCKSTEP_INSTANTIATE_LAYER(Relu);
LOCKSTEP_INSTANTIATE_LAYER(Tanh);
LOCKSTEP_INSTANTIATE_LAYER(AbsTanh);
LOCKSTEP_INSTANTIATE_LAYER(Gelu);

template <class T>
std::unique_ptr<Layer<T>> LeakyRelu::make(const LayerPlan& plan) const {
  return std::make_unique<ActivationLayer<T>>(plan, ActivationKind::leaky_relu, slope);
}
LOCKSTEP_INSTANTIATE_LAYER(LeakyRelu);

template <class T>
std::unique_ptr<Layer<T>> Sigmoid::make(const LayerPlan& plan) const {
  return std::make_unique<ActivationLayer<T>>(plan, ActivationKind::sigmoid, lambda);
}
LOCKSTEP_INSTANTIATE_LAYER(Sigmoid);

}  // namespace lockstep
