#include "lockstep/nn/layer_norm.hpp"

#include "lockstep/kernels/layer_norm.hpp"
#include "lockstep/nn/layer.hpp"
#include "lockstep/nn/onnx.hpp"

namespace lockstep {

namespace {

/// y = gamma (x - mean) / sqrt(var + eps) + beta, mean and var of the sample's features
template <class T>
class LayerNormLayer : public Layer<T> {
 public:
  explicit LayerNormLayer(const LayerPlan& plan) : Layer<T>(plan), eps_(std::get<LayerNorm>(plan.spec.kind).eps) {}

  bool backward_in_place() const override { return true; }
  Sharing sharing() const override { return Sharing::never; }

  void reserve(LayerMemory<T>& memory, std::int64_t samples, std::int64_t slots, Memory& where) const override {
    if (slots > 0) memory.saved = AlignedBuffer<T>(2 * padded(samples), where);
  }

  void forward(const Pass<T>& pass, const LayerViews<T>& v, LayerMemory<T>& memory) const override {
    pass.kernels.layer_norm_forward({.eps = T(eps_),
                                     .x = v.x,
                                     .gamma = v.parameters[0],
                                     .beta = v.parameters[1],
                                     .y = v.y,
                                     .mean = pass.training ? mean(memory) : nullptr,
                                     .inv_std = pass.training ? inv_std(memory) : nullptr},
                                    pass.context);
  }

  void backward(const Pass<T>& pass, const LayerViews<T>& v, LayerMemory<T>& memory) const override {
    pass.kernels.layer_norm_backward({.x = v.x,
                                      .dy = v.dy,
                                      .gamma = v.parameters[0],
                                      .mean = mean(memory),
                                      .inv_std = inv_std(memory),
                                      .slots = pass.slots,
                                      .dx = v.dx,
                                      .dgamma = v.gradients[0],
                                      .dbeta = v.gradients[1]},
                                     pass.context);
  }

  Cost own_forward_cost(std::int64_t samples) const override {
    return layer_norm_cost(this->plan().in.elements(), samples, sizeof(T));
  }
  Cost parameter_gradient_cost(std::int64_t samples) const override { return own_forward_cost(samples); }

 private:
  T* mean(LayerMemory<T>& memory) const { return memory.saved.data(); }
  T* inv_std(LayerMemory<T>& memory) const { return memory.saved.data() + memory.saved.size() / 2; }

  double eps_;
};

}  // namespace

void LayerNorm::plan(LayerPlan& plan, const Init&) const {
  require(plan, eps > 0, "eps must be above 0");
  add_parameter(plan, "weight", plan.in, Role::scale, 1, 1, {.kind = InitKind::constant, .scale = 1});
  add_parameter(plan, "bias", plan.in, Role::bias, 1, 1, {.kind = InitKind::zeros});
}

std::string LayerNorm::onnx(OnnxBuilder& graph, const LayerPlan& plan, const std::string& x) const {
  return graph.node("LayerNormalization", onnx_inputs(x, plan), plan.path,
                    {{"axis", std::int64_t{1}}, {"epsilon", eps}});
}

LOCKSTEP_MAKE_LAYER(LayerNorm, LayerNormLayer);

}  // namespace lockstep
