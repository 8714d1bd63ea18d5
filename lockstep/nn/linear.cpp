#include "lockstep/nn/linear.hpp"

#include <fmt/format.h>

#include "lockstep/nn/layer.hpp"
#include "lockstep/nn/onnx.hpp"
#include "lockstep/nn/per_step.hpp"

namespace lockstep {

namespace {

/// y = w x + b
template <class T>
class LinearLayer : public Layer<T> {
 public:
  explicit LinearLayer(const LayerPlan& plan) : Layer<T>(plan), in_(plan.in.elements()), out_(plan.out.elements()) {}

  Sharing sharing() const override { return Sharing::from_all; }

  /// The transposed weights: with lanes over outputs, a vector of them lies together.
  void prepare(const T* parameters, LayerMemory<T>& memory) const override {
    memory.prepared = transposed(dense_matrix(parameters + this->plan().parameters[0].offset, out_, in_));
  }

  void forward(const Pass<T>& pass, const LayerViews<T>& v, LayerMemory<T>& memory) const override {
    ConstMatrix<T> w_transposed;
    if (memory.prepared.size() > 0)
      w_transposed = {memory.prepared.data() + v.out.first, in_, v.out.count, transposed_stride(out_)};
    pass.kernels.linear_forward(
        {.x = v.x, .w = weight(v), .b = v.parameters[1], .y = v.y, .w_transposed = w_transposed}, pass.context);
  }

  /// dw = dy x^T, db = sum of dy, dx = w^T dy
  void backward(const Pass<T>& pass, const LayerViews<T>& v, LayerMemory<T>&) const override {
    if (v.gradients[0] != nullptr)
      pass.kernels.linear_backward_weights({.x = v.x,
                                            .dy = v.dy,
                                            .slots = pass.slots,
                                            .dw = dense_matrix(v.gradients[0], v.out.count, v.in.count),
                                            .db = v.gradients[1]},
                                           pass.context);
    if (v.dx.data != nullptr) pass.kernels.linear_backward_data({.w = weight(v), .dy = v.dy, .dx = v.dx}, pass.context);
  }

  Cost own_forward_cost(std::int64_t samples) const override { return linear_cost(in_, out_, samples, sizeof(T)); }
  Cost parameter_gradient_cost(std::int64_t samples) const override { return own_forward_cost(samples); }

 private:
  static ConstMatrix<T> weight(const LayerViews<T>& v) {
    return dense_matrix(v.parameters[0], v.out.count, v.in.count);
  }

  std::int64_t in_, out_;
};

/// y = w x + b at every step of [features, steps]
template <class T>
class StepLinearLayer : public Layer<T> {
 public:
  explicit StepLinearLayer(const LayerPlan& plan)
      : Layer<T>(plan), in_(plan.in[0]), out_(plan.out[0]), steps_(plan.in[1]) {}

  Sharing sharing() const override { return Sharing::from_all; }

  void reserve(LayerMemory<T>& memory, std::int64_t samples, std::int64_t slots, Memory& where) const override {
    if (slots > 0) memory.saved = AlignedBuffer<T>((in_ + out_) * steps_ * samples, where);
  }

  void forward(const Pass<T>& pass, const LayerViews<T>& v, LayerMemory<T>&) const override {
    linear_steps<T>(pass, steps_of(v.x, steps_), weight(v), v.parameters[1], steps_of(v.y, steps_));
  }

  /// Sums over (step, sample) in the order of packed_steps.
  void backward(const Pass<T>& pass, const LayerViews<T>& v, LayerMemory<T>& memory) const override {
    const Steps<T> dy = steps_of(v.dy, steps_);
    if (v.gradients[0] != nullptr)
      linear_steps_weights<T>(pass, steps_of(v.x, steps_), dy, v.gradients[0], v.gradients[1], memory.saved.data());
    if (v.dx.data != nullptr) linear_steps_data<T>(pass, weight(v), dy, steps_of(v.dx, steps_));
  }

  Cost own_forward_cost(std::int64_t samples) const override {
    return linear_cost(in_, out_, steps_ * samples, sizeof(T));
  }
  Cost parameter_gradient_cost(std::int64_t samples) const override { return own_forward_cost(samples); }

 private:
  static ConstMatrix<T> weight(const LayerViews<T>& v) {
    return dense_matrix(v.parameters[0], v.out.count, v.in.count);
  }

  std::int64_t in_, out_, steps_;
};

}  // namespace

std::string Linear::detail() const {
  const char* const where = per_step ? "at every step" : "";
  return fmt::format("{}{}{}", where, per_step && !bias ? ", " : "", bias ? "" : "no bias");
}

void Linear::plan(LayerPlan& plan, const Init& usual) const {
  require(plan, out >= 1, fmt::format("out = {} must be at least 1", out));
  require(plan, !per_step || plan.in.rank() == 2, "per_step needs a sequence [features,steps]");
  const std::int64_t in = per_step ? plan.in[0] : plan.in.elements();
  add_weight_and_bias(plan, {out, in}, bias, in, out, init.value_or(usual));
  plan.out = per_step ? Shape{out, plan.in[1]} : Shape{out};
}

std::string Linear::onnx(OnnxBuilder& graph, const LayerPlan& plan, const std::string& x) const {
  if (per_step) {
    const std::string turned = onnx_steps_first(graph, plan, x);
    const std::string y =
        graph.node("MatMul", {turned, onnx_transposed(graph, plan, plan.parameters[0].name)}, plan.path);
    return onnx_steps_first(graph, plan, bias ? graph.node("Add", {y, plan.parameters[1].name}, plan.path) : y);
  }
  return graph.node("Gemm", onnx_inputs(onnx_flattened(graph, plan, x), plan), plan.path,
                    {{"transB", std::int64_t{1}}});
}

template <class T>
std::unique_ptr<Layer<T>> Linear::make(const LayerPlan& plan) const {
  if (per_step) return std::make_unique<StepLinearLayer<T>>(plan);
  return std::make_unique<LinearLayer<T>>(plan);
}
LOCKSTEP_INSTANTIATE_LAYER(Linear);

}  // namespace lockstep
