#include "lockstep/nn/linear.hpp"

#include <fmt/format.h>

#include "lockstep/nn/layer.hpp"
#include "lockstep/nn/onnx.hpp"

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

}  // namespace

std::string Linear::detail() const { return bias ? "" : "no bias"; }

void Linear::plan(LayerPlan& plan, const Init& usual) const {
  require(plan, out >= 1, fmt::format("out = {} must be at least 1", out));
  const std::int64_t in = plan.in.elements();
  add_weight_and_bias(plan, {out, in}, bias, in, out, init.value_or(usual));
  plan.out = {out};
}

std::string Linear::onnx(OnnxBuilder& graph, const LayerPlan& plan, const std::string& x) const {
  return graph.node("Gemm", onnx_inputs(onnx_flattened(graph, plan, x), plan), plan.path,
                    {{"transB", std::int64_t{1}}});
}

LOCKSTEP_MAKE_LAYER(Linear, LinearLayer);

}  // namespace lockstep
