#include "lockstep/nn/linear.hpp"

#include <fmt/format.h>

#include "lockstep/kernels/linear.hpp"

#include "lockstep/nn/layer.hpp"
#include "lockstep/nn/onnx.hpp"

namespace lockstep {

namespace {

/// y = w x + b
template <class T>
class LinearLayer : public Layer<T> {
 public:
  explicit LinearLayer(const LayerPlan& plan)
      : Layer<T>(plan), in_(plan.in.elements()), out_(plan.out.elements()), weight_(plan.parameters[0].offset) {
    if (plan.parameters.size() > 1) bias_ = plan.parameters[1].offset;
  }

  Sharing sharing() const override { return Sharing::from_all; }

  /// The transposed weights: with lanes over outputs, a vector of them lies together.
  void prepare(const T* parameters, LayerMemory<T>& memory) const override {
    memory.prepared = transposed(dense_matrix(parameters + weight_, out_, in_));
  }

  void forward(const Pass<T>& pass, ConstMatrix<T> x, LayerMemory<T>& memory) const override {
    const Channels own = this->own_channels(pass);
    if (own.count == 0) return;
    const std::int64_t skipped = own.first - this->held_channels().first;  // outputs whose parameters come before
    ConstMatrix<T> w_transposed;
    if (memory.prepared.size() > 0)
      w_transposed = {memory.prepared.data() + own.first, in_, own.count, transposed_stride(out_)};
    pass.kernels.linear_forward({.x = x,
                                 .w = weight(pass).rows_from(skipped, own.count),
                                 .b = bias_ < 0 ? nullptr : pass.parameters + bias_ + skipped,
                                 .y = memory.y.rows_from(own.first, own.count),
                                 .w_transposed = w_transposed},
                                pass.context);
  }

  /// dx = w^T dy, dw = dy x^T, db = sum of dy
  void backward(const Pass<T>& pass, ConstMatrix<T> x, LayerMemory<T>&, Matrix<T> dy, Matrix<T> dx) const override {
    const Channels own = this->held_channels(), inputs = held_inputs();
    if (own.count > 0)
      pass.kernels.linear_backward_weights({.x = x,
                                            .dy = dy.rows_from(own.first, own.count),
                                            .slots = pass.slots,
                                            .dw = dense_matrix(pass.gradients + weight_, own.count, in_),
                                            .db = bias_ < 0 ? nullptr : pass.gradients + bias_},
                                           pass.context);
    if (dx.data == nullptr) return;
    this->await_gradient(pass);
    if (inputs.count == 0) return;
    const std::int64_t columns = this->plan().columns;
    pass.kernels.linear_backward_data(
        {.w = columns < 0 ? weight(pass) : dense_matrix(pass.columns + columns, out_, inputs.count),
         .dy = dy,
         .dx = dx.rows_from(inputs.first, inputs.count)},
        pass.context);
  }

  Cost forward_cost(std::int64_t samples) const override {
    return linear_cost(in_, this->held_channels().count, samples, sizeof(T));
  }
  Cost backward_cost(std::int64_t samples, bool data) const override {
    return forward_cost(samples) + (data ? linear_cost(held_inputs().count, out_, samples, sizeof(T)) : Cost{});
  }

 private:
  /// The inputs whose gradients this member computes.
  Channels held_inputs() const { return this->plan().in_split.part(in_, this->plan().member); }
  /// As much of it as is held.
  ConstMatrix<T> weight(const Pass<T>& pass) const {
    return dense_matrix(pass.parameters + weight_, this->held_channels().count, in_);
  }

  std::int64_t in_, out_, weight_, bias_ = -1;
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

template <class T>
std::unique_ptr<Layer<T>> Linear::make(const LayerPlan& plan) const {
  return std::make_unique<LinearLayer<T>>(plan);
}

LOCKSTEP_INSTANTIATE_LAYER(Linear);

}  // namespace lockstep
