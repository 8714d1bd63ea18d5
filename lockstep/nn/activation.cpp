#include "lockstep/kernels/activation.hpp"

#include "lockstep/nn/layer.hpp"

namespace lockstep {

namespace {

struct Function {
  ActivationKind kind;
  double slope = 0;
};

struct FunctionOf {
  Function operator()(const Relu&) const { return {ActivationKind::relu}; }
  Function operator()(const LeakyRelu& l) const { return {ActivationKind::leaky_relu, l.slope}; }
  Function operator()(const Tanh&) const { return {ActivationKind::tanh}; }
  Function operator()(const AbsTanh&) const { return {ActivationKind::abs_tanh}; }
  Function operator()(const Sigmoid& s) const { return {ActivationKind::sigmoid, s.lambda}; }
  Function operator()(const Gelu&) const { return {ActivationKind::gelu}; }
  Function operator()(const auto&) const { return {ActivationKind::relu}; }  // not an activation: never asked for
};

/// y = f(x), element by element: the table of formulas stands in kernels/activation.hpp
template <class T>
class ActivationLayer : public Layer<T> {
 public:
  explicit ActivationLayer(const LayerPlan& plan) : Layer<T>(plan), f_(std::visit(FunctionOf{}, plan.spec.kind)) {}

  /// Where the derivative follows from y, x is not needed any more. For the two piecewise linear kinds y > 0 exactly
  /// when x > 0 (a slope of 0 included).
  bool in_place() const override { return f_.kind != ActivationKind::abs_tanh && f_.kind != ActivationKind::gelu; }
  bool backward_reads_y() const override { return f_.kind != ActivationKind::gelu; }
  bool backward_in_place() const override { return true; }

  Sharing sharing() const override { return Sharing::by_channel; }

  void forward(const Pass<T>& pass, const LayerViews<T>& v, LayerMemory<T>&) const override {
    pass.kernels.activation_forward({.kind = f_.kind, .slope = T(f_.slope), .x = v.x, .y = v.y}, pass.context);
  }

  /// dx = dy f'(x)
  void backward(const Pass<T>& pass, const LayerViews<T>& v, LayerMemory<T>&) const override {
    if (v.dx.data == nullptr) return;
    pass.kernels.activation_backward(
        {.kind = f_.kind, .slope = T(f_.slope), .x = v.x, .y = v.y, .dy = v.dy, .dx = v.dx}, pass.context);
  }

  Cost own_forward_cost(std::int64_t samples) const override {
    return activation_cost(f_.kind, this->plan().in.elements(), samples, sizeof(T));
  }

 private:
  Function f_;
};

}  // namespace

template <class T>
std::unique_ptr<Layer<T>> make_activation(const LayerPlan& plan) {
  return std::make_unique<ActivationLayer<T>>(plan);
}

LOCKSTEP_INSTANTIATE_LAYER(make_activation);

}  // namespace lockstep
