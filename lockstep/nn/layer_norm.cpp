#include "lockstep/nn/layer_norm.hpp"

#include <array>

#include "lockstep/kernels/layer_norm.hpp"
#include "lockstep/nn/layer.hpp"
#include "lockstep/nn/onnx.hpp"
#include "lockstep/nn/per_step.hpp"

namespace lockstep {

namespace {

/// y = gamma (x - mean) / sqrt(var + eps) + beta, mean and var of the sample's features, or of those of one step
template <class T>
class LayerNormLayer : public Layer<T> {
 public:
  explicit LayerNormLayer(const LayerPlan& plan)
      : Layer<T>(plan),
        eps_(std::get<LayerNorm>(plan.spec.kind).eps),
        steps_(std::get<LayerNorm>(plan.spec.kind).per_step ? plan.in[1] : 1),
        features_(plan.in.elements() / steps_) {}

  bool backward_in_place() const override { return true; }
  Sharing sharing() const override { return Sharing::never; }

  void reserve(LayerMemory<T>& memory, std::int64_t samples, std::int64_t slots, Memory& where) const override {
    const std::int64_t packed = steps_ > 1 ? (2 * features_ + 2) * steps_ * samples : 0;
    if (slots > 0) memory.saved = AlignedBuffer<T>(2 * steps_ * padded(samples) + packed, where);
  }

  void forward(const Pass<T>& pass, const LayerViews<T>& v, LayerMemory<T>& memory) const override {
    if (v.x.stride == padded(v.x.cols) && v.y.stride == v.x.stride)
      return normalise(pass, v, steps_of(v.x, steps_).all(), steps_of(v.y, steps_).all(), 0, memory);
    for (std::int64_t t = 0; t < steps_; ++t)
      normalise(pass, v, steps_of(v.x, steps_).at(t), steps_of(v.y, steps_).at(t), t, memory);
  }

  /// The sums over (step, sample) take the order of packed_steps; the rest works on the steps where they lie.
  void backward(const Pass<T>& pass, const LayerViews<T>& v, LayerMemory<T>& memory) const override {
    const Statistics own = statistics(memory, v.x.cols);
    LayerNormBackward<T> arguments{.x = v.x,
                                   .dy = v.dy,
                                   .gamma = v.parameters[0],
                                   .mean = own.mean,
                                   .inv_std = own.inv_std,
                                   .slots = pass.slots,
                                   .dx = v.dx,
                                   .dgamma = v.gradients[0],
                                   .dbeta = v.gradients[1]};
    if (steps_ == 1) return pass.kernels.layer_norm_backward(arguments, pass.context);
    const std::int64_t samples = v.x.cols, stride = padded(samples);
    T* const space = own.inv_std + steps_ * stride;
    T* const packed_dy = space + features_ * steps_ * samples;
    T* const packed_mean = packed_dy + features_ * steps_ * samples;
    const StepSlots slots(pass.slots, steps_);
    const auto row = [&](const T* data) { return Steps<const T>{data, 1, steps_, samples, stride}; };
    arguments.slots = slots.slots();
    arguments.x = packed_steps<T>(pass, steps_of(v.x, steps_), 0, space);
    arguments.dy = packed_steps<T>(pass, steps_of(v.dy, steps_), 0, packed_dy);
    arguments.mean = packed_steps<T>(pass, row(own.mean), 0, packed_mean).data;
    arguments.inv_std = packed_steps<T>(pass, row(own.inv_std), 0, packed_mean + steps_ * samples).data;
    arguments.dx = {};
    pass.kernels.layer_norm_backward(arguments, pass.context);
    if (v.dx.data == nullptr) return;
    // The parameters' sums of this call are of no use: they go where the packed numbers were.
    const std::array<std::int64_t, 2> none = {0, 0};
    arguments.slots = {none};
    arguments.dgamma = space;
    arguments.dbeta = space + features_;
    const bool at_once = v.x.stride == stride && v.dy.stride == stride && v.dx.stride == stride;
    for (std::int64_t t = 0; t < (at_once ? 1 : steps_); ++t) {
      const auto view = [&](const auto& steps) { return at_once ? steps.all() : steps.at(t); };
      arguments.x = view(steps_of(v.x, steps_));
      arguments.dy = view(steps_of(v.dy, steps_));
      arguments.dx = view(steps_of(v.dx, steps_));
      arguments.mean = own.mean + t * stride;
      arguments.inv_std = own.inv_std + t * stride;
      pass.kernels.layer_norm_backward(arguments, pass.context);
    }
  }

  Cost own_forward_cost(std::int64_t samples) const override {
    return layer_norm_cost(this->plan().in.elements(), samples, sizeof(T));
  }
  Cost parameter_gradient_cost(std::int64_t samples) const override { return own_forward_cost(samples); }

 private:
  struct Statistics {
    T *mean, *inv_std;  // of step t of sample s at t * padded(samples) + s
  };
  Statistics statistics(LayerMemory<T>& memory, std::int64_t samples) const {
    return {memory.saved.data(), memory.saved.data() + steps_ * padded(samples)};
  }

  void normalise(const Pass<T>& pass, const LayerViews<T>& v, ConstMatrix<T> x, Matrix<T> y, std::int64_t step,
                 LayerMemory<T>& memory) const {
    const Statistics own = statistics(memory, v.x.cols);
    const std::int64_t skipped = step * padded(v.x.cols);
    pass.kernels.layer_norm_forward({.eps = T(eps_),
                                     .x = x,
                                     .gamma = v.parameters[0],
                                     .beta = v.parameters[1],
                                     .y = y,
                                     .mean = pass.training ? own.mean + skipped : nullptr,
                                     .inv_std = pass.training ? own.inv_std + skipped : nullptr},
                                    pass.context);
  }

  double eps_;
  std::int64_t steps_, features_;
};

}  // namespace

void LayerNorm::plan(LayerPlan& plan, const Init&) const {
  require(plan, eps > 0, "eps must be above 0");
  require(plan, !per_step || plan.in.rank() == 2, "per_step needs a sequence [features,steps]");
  const Shape shape = per_step ? Shape{plan.in[0]} : plan.in;
  add_parameter(plan, "weight", shape, Role::scale, 1, 1, {.kind = InitKind::constant, .scale = 1});
  add_parameter(plan, "bias", shape, Role::bias, 1, 1, {.kind = InitKind::zeros});
}

std::string LayerNorm::onnx(OnnxBuilder& graph, const LayerPlan& plan, const std::string& x) const {
  if (per_step) {
    std::vector<std::string> inputs = onnx_inputs(onnx_steps_first(graph, plan, x), plan);
    return onnx_steps_first(
        graph, plan,
        graph.node("LayerNormalization", inputs, plan.path, {{"axis", std::int64_t{-1}}, {"epsilon", eps}}));
  }
  return graph.node("LayerNormalization", onnx_inputs(x, plan), plan.path,
                    {{"axis", std::int64_t{1}}, {"epsilon", eps}});
}

LOCKSTEP_MAKE_LAYER(LayerNorm, LayerNormLayer);

}  // namespace lockstep
