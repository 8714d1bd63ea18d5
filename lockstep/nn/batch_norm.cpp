#include "lockstep/nn/batch_norm.hpp"

#include "lockstep/nn/layer.hpp"
#include "lockstep/nn/onnx.hpp"

namespace lockstep {

namespace {

/// y = gamma (x - mean) / sqrt(var + eps) + beta, mean and var of the slot (training) or running (inference)
template <class T>
class BatchNormLayer : public Layer<T> {
 public:
  explicit BatchNormLayer(const LayerPlan& plan)
      : Layer<T>(plan),
        spec_(std::get<BatchNorm>(plan.spec.kind)),
        channels_(plan.in[0]),
        pixels_(plan.in.elements() / plan.in[0]) {}

  bool backward_in_place() const override { return true; }
  Sharing sharing() const override { return Sharing::by_channel; }

  void reserve(LayerMemory<T>& memory, std::int64_t, std::int64_t slots, Memory& where) const override {
    memory.saved = AlignedBuffer<T>(2 * slots * channels_, where);
  }

  void forward(const Pass<T>& pass, const LayerViews<T>& v, LayerMemory<T>& memory) const override {
    const auto& [gamma, beta, running_mean, running_var] = v.parameters;
    if (pass.training)
      pass.kernels.batch_norm_forward({.channels = v.out.count,
                                       .pixels = pixels_,
                                       .eps = T(spec_.eps),
                                       .x = v.x,
                                       .gamma = gamma,
                                       .beta = beta,
                                       .slots = pass.slots,
                                       .y = v.y,
                                       .mean = mean(memory),
                                       .inv_std = inv_std(memory, pass),
                                       .sum_mean = v.gradients[2],
                                       .sum_var = v.gradients[3]},
                                      pass.context);
    else
      pass.kernels.batch_norm_inference({.channels = v.out.count,
                                         .pixels = pixels_,
                                         .eps = T(spec_.eps),
                                         .x = v.x,
                                         .gamma = gamma,
                                         .beta = beta,
                                         .running_mean = running_mean,
                                         .running_var = running_var,
                                         .y = v.y},
                                        pass.context);
  }

  void backward(const Pass<T>& pass, const LayerViews<T>& v, LayerMemory<T>& memory) const override {
    pass.kernels.batch_norm_backward({.channels = v.out.count,
                                      .pixels = pixels_,
                                      .x = v.x,
                                      .dy = v.dy,
                                      .gamma = v.parameters[0],
                                      .mean = mean(memory),
                                      .inv_std = inv_std(memory, pass),
                                      .slots = pass.slots,
                                      .dx = v.dx,
                                      .dgamma = v.gradients[0],
                                      .dbeta = v.gradients[1]},
                                     pass.context);
  }

  /// running = (1 - momentum) * running + momentum * (sum / count)
  void update_statistics(const KernelTable<T>& kernels, KernelContext& context, T* parameters, const T* sums,
                         std::int64_t samples) const override {
    std::int64_t first = 0, last = 0;  // mean and variance lie behind each other: one call
    const auto update = [&] {
      if (first < last)
        kernels.running_update({.count = last - first,
                                .momentum = T(spec_.momentum),
                                .elements = T(samples * pixels_),
                                .sum = sums + first,
                                .running = parameters + first},
                               context);
    };
    for (const ParameterInfo& running : this->plan().parameters) {
      if (running.trainable()) continue;
      if (running.offset != last) {
        update();
        first = running.offset;
      }
      last = running.offset + running.elements();
    }
    update();
  }

  Cost own_forward_cost(std::int64_t samples) const override {
    return batch_norm_cost(channels_, pixels_, samples, sizeof(T));
  }
  /// One kernel computes both gradients.
  Cost parameter_gradient_cost(std::int64_t samples) const override { return own_forward_cost(samples); }
  Cost data_gradient_cost(std::int64_t) const override { return {}; }

 private:
  T* mean(LayerMemory<T>& memory) const { return memory.saved.data(); }
  T* inv_std(LayerMemory<T>& memory, const Pass<T>& pass) const {
    return memory.saved.data() + pass.slots.count() * channels_;
  }

  BatchNorm spec_;
  std::int64_t channels_, pixels_;
};

}  // namespace

void BatchNorm::plan(LayerPlan& plan, const Init&) const {
  require(plan, eps > 0, "eps must be above 0");
  require(plan, momentum > 0 && momentum <= 1, "momentum must be above 0 and at most 1");
  const std::int64_t channels = plan.in[0];
  const Init one{.kind = InitKind::constant, .scale = 1}, zero{.kind = InitKind::zeros};
  add_parameter(plan, "weight", {channels}, Role::scale, 1, 1, one);
  add_parameter(plan, "bias", {channels}, Role::bias, 1, 1, zero);
  add_parameter(plan, "running_mean", {channels}, Role::running_mean, 1, 1, zero);
  add_parameter(plan, "running_var", {channels}, Role::running_var, 1, 1, one);
}

std::string BatchNorm::onnx(OnnxBuilder& graph, const LayerPlan& plan, const std::string& x) const {
  return graph.node("BatchNormalization", onnx_inputs(x, plan), plan.path, {{"epsilon", eps}});
}

LOCKSTEP_MAKE_LAYER(BatchNorm, BatchNormLayer);

}  // namespace lockstep
