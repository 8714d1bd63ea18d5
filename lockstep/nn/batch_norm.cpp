#include "lockstep/nn/batch_norm.hpp"

#include "lockstep/kernels/batch_norm.hpp"

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
        pixels_(plan.in.elements() / plan.in[0]),
        gamma_(plan.parameters[0].offset),
        beta_(plan.parameters[1].offset),
        running_mean_(plan.parameters[2].offset),
        running_var_(plan.parameters[3].offset) {}

  bool backward_in_place() const override { return true; }
  Sharing sharing() const override { return Sharing::by_channel; }

  void reserve(LayerMemory<T>& memory, std::int64_t, std::int64_t slots, Memory& where) const override {
    memory.saved = AlignedBuffer<T>(2 * slots * channels_, where);
  }

  void forward(const Pass<T>& pass, ConstMatrix<T> x, LayerMemory<T>& memory) const override {
    const Channels own = this->own_channels(pass);
    const std::int64_t skipped = own.first - this->held_channels().first;  // channels whose parameters come before
    const T* p = pass.parameters + skipped;
    if (!pass.training) {
      pass.kernels.batch_norm_inference({.channels = own.count,
                                         .pixels = pixels_,
                                         .eps = T(spec_.eps),
                                         .x = this->rows_of(x, this->plan().in, own),
                                         .gamma = p + gamma_,
                                         .beta = p + beta_,
                                         .running_mean = p + running_mean_,
                                         .running_var = p + running_var_,
                                         .y = this->rows_of(memory.y, this->plan().out, own)},
                                        pass.context);
      return;
    }
    pass.kernels.batch_norm_forward({.channels = own.count,
                                     .pixels = pixels_,
                                     .eps = T(spec_.eps),
                                     .x = this->rows_of(x, this->plan().in, own),
                                     .gamma = p + gamma_,
                                     .beta = p + beta_,
                                     .slots = pass.slots,
                                     .y = this->rows_of(memory.y, this->plan().out, own),
                                     .mean = mean(memory),
                                     .inv_std = inv_std(memory, pass),
                                     .sum_mean = pass.gradients + running_mean_,
                                     .sum_var = pass.gradients + running_var_},
                                    pass.context);
  }

  void backward(const Pass<T>& pass, ConstMatrix<T> x, LayerMemory<T>& memory, Matrix<T> dy,
                Matrix<T> dx) const override {
    const Channels own = this->held_channels();
    pass.kernels.batch_norm_backward({.channels = own.count,
                                      .pixels = pixels_,
                                      .x = this->rows_of(x, this->plan().in, own),
                                      .dy = this->rows_of(dy, this->plan().out, own),
                                      .gamma = pass.parameters + gamma_,
                                      .mean = mean(memory),
                                      .inv_std = inv_std(memory, pass),
                                      .slots = pass.slots,
                                      .dx = dx.data == nullptr ? dx : this->rows_of(dx, this->plan().in, own),
                                      .dgamma = pass.gradients + gamma_,
                                      .dbeta = pass.gradients + beta_},
                                     pass.context);
  }

  /// running = (1 - momentum) * running + momentum * (sum / count)
  void update_statistics(const KernelTable<T>& kernels, KernelContext& context, T* parameters, const T* sums,
                         std::int64_t samples) const override {
    for (const std::int64_t offset : {running_mean_, running_var_})
      kernels.running_update({.count = this->held_channels().count,
                              .momentum = T(spec_.momentum),
                              .elements = T(samples * pixels_),
                              .sum = sums + offset,
                              .running = parameters + offset},
                             context);
  }

  Cost forward_cost(std::int64_t samples) const override {
    return this->share_of_work() * batch_norm_cost(channels_, pixels_, samples, sizeof(T));
  }
  Cost backward_cost(std::int64_t samples, bool) const override { return forward_cost(samples); }

 private:
  T* mean(LayerMemory<T>& memory) const { return memory.saved.data(); }
  T* inv_std(LayerMemory<T>& memory, const Pass<T>& pass) const {
    return memory.saved.data() + pass.slots.count() * channels_;
  }

  BatchNorm spec_;
  std::int64_t channels_, pixels_, gamma_, beta_, running_mean_, running_var_;
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

template <class T>
std::unique_ptr<Layer<T>> BatchNorm::make(const LayerPlan& plan) const {
  return std::make_unique<BatchNormLayer<T>>(plan);
}

LOCKSTEP_INSTANTIATE_LAYER(BatchNorm);

}  // namespace lockstep
