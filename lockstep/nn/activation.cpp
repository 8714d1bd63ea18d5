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

  void forward(const Pass<T>& pass, ConstMatrix<T> x, LayerMemory<T>& memory) const override {
    const Channels own = this->own_channels(pass);
    pass.kernels.activation_forward({.kind = f_.kind,
                                     .slope = T(f_.slope),
                                     .x = this->rows_of(x, this->plan().in, own),
                                     .y = this->rows_of(memory.y, this->plan().out, own)},
                                    pass.context);
  }

  /// dx = dy f'(x)
  void backward(const Pass<T>& pass, ConstMatrix<T> x, LayerMemory<T>& memory, Matrix<T> dy,
                Matrix<T> dx) const override {
    if (dx.data == nullptr) return;
    const Channels own = this->held_channels();
    const Shape& shape = this->plan().in;
    pass.kernels.activation_backward({.kind = f_.kind,
                                      .slope = T(f_.slope),
                                      .x = this->rows_of(x, shape, own),
                                      .y = this->rows_of(memory.y, shape, own),
                                      .dy = this->rows_of(dy, shape, own),
                                      .dx = this->rows_of(dx, shape, own)},
                                     pass.context);
  }

  Cost forward_cost(std::int64_t samples) const override {
    return this->share_of_work() * activation_cost(f_.kind, this->plan().in.elements(), samples, sizeof(T));
  }
  Cost backward_cost(std::int64_t samples, bool data) const override { return data ? forward_cost(samples) : Cost{}; }

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
