#include "lockstep/nn/batch_norm.hpp"

#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "lockstep/kernels/device/device.hpp"
#include "lockstep/nn/layer.hpp"
#include "lockstep/nn/onnx.hpp"

namespace lockstep {

namespace {

bool on_host(const KernelContext& context) { return &context.memory() == &host_memory(); }

/// Vectors of the pass's kernels, on the host and back.
template <class T>
void download(const Pass<T>& pass, const T* from, std::span<T> to) {
  if (on_host(pass.context))
    std::memcpy(to.data(), from, to.size_bytes());
  else
    pass.context.device().to_host(to.data(), from, static_cast<std::int64_t>(to.size_bytes()));
}
template <class T>
void upload(const Pass<T>& pass, std::span<const T> from, T* to) {
  if (on_host(pass.context))
    std::memcpy(to, from.data(), from.size_bytes());
  else
    pass.context.device().to_device(to, from.data(), static_cast<std::int64_t>(from.size_bytes()));
}

/// y = gamma (x - mean) / sqrt(var + eps) + beta, mean and var of the slot or of the batch (training), or running
/// (inference)
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
    memory.saved = AlignedBuffer<T>((2 * slots + (whole_batch() ? 2 : 0)) * channels_, where);
  }

  void forward(const Pass<T>& pass, const LayerViews<T>& v, LayerMemory<T>& memory) const override {
    const T *gamma = v.parameters[0], *beta = v.parameters[1], *running_mean = v.parameters[2],
            *running_var = v.parameters[3];
    if (pass.training && whole_batch())
      forward_batch(pass, v, memory);
    else if (pass.training)
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
    const Matrix<T> dx = whole_batch() ? Matrix<T>{} : v.dx;
    pass.kernels.batch_norm_backward({.channels = v.out.count,
                                      .pixels = pixels_,
                                      .x = v.x,
                                      .dy = v.dy,
                                      .gamma = v.parameters[0],
                                      .mean = mean(memory),
                                      .inv_std = inv_std(memory, pass),
                                      .slots = pass.slots,
                                      .dx = dx,
                                      .dgamma = v.gradients[0],
                                      .dbeta = v.gradients[1]},
                                     pass.context);
    if (whole_batch()) backward_batch(pass, v, memory);
  }

  /// running = (1 - momentum) * running + momentum * (sum / count). Over the batch the sum of the variance is one of
  /// squares, and the unbiased variance has one element less below it.
  void update_statistics(const KernelTable<T>& kernels, KernelContext& context, T* parameters, const T* sums,
                         std::int64_t samples) const override {
    // Mean and variance lie behind each other: one call where they have the same divisor.
    std::int64_t first = 0, last = 0, elements = samples * pixels_;
    const auto update = [&] {
      if (first < last)
        kernels.running_update({.count = last - first,
                                .momentum = T(spec_.momentum),
                                .elements = T(elements),
                                .sum = sums + first,
                                .running = parameters + first},
                               context);
    };
    for (const ParameterInfo& running : this->plan().parameters) {
      if (running.trainable()) continue;
      const bool less = whole_batch() && running.role == Role::running_var;
      if (running.offset != last || less) {
        update();
        first = running.offset;
        elements = std::max<std::int64_t>(samples * pixels_ - (less ? 1 : 0), 1);
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
  bool whole_batch() const { return spec_.over == NormOver::batch; }

  T share(const Pass<T>& pass, const LayerViews<T>& v) const {
    return T(1) / T(pixels_ * (pass.batch != nullptr ? pass.batch->samples() : v.x.cols));
  }

  /// The statistics of all slots are those of the batch: one row each, as the kernels of the slot take them.
  void keep(const Pass<T>& pass, const std::vector<T>& row, T* rows) const {
    std::vector<T> all;
    for (std::int64_t slot = 0; slot < pass.slots.count(); ++slot) all.insert(all.end(), row.begin(), row.end());
    upload<T>(pass, all, rows);
  }

  /// sum: where the chunk's sum goes. Returns that of the batch.
  std::vector<T> batch_sum(const Pass<T>& pass, const LayerViews<T>& v, const T* centre, T* sum) const {
    pass.kernels.batch_norm_sums(
        {.channels = channels_, .pixels = pixels_, .x = v.x, .centre = centre, .slots = pass.slots, .sum = sum},
        pass.context);
    std::vector<T> total(static_cast<std::size_t>(channels_));
    download<T>(pass, sum, total);
    if (pass.batch != nullptr) pass.batch->add_up(total);
    return total;
  }

  /// mean = (sum of x) / n, then var = (sum of (x - mean)^2) / n, each a sum over the batch; then y.
  void forward_batch(const Pass<T>& pass, const LayerViews<T>& v, LayerMemory<T>& memory) const {
    const T part = share(pass, v);
    std::vector<T> row = batch_sum(pass, v, nullptr, v.gradients[2]);
    for (T& each : row) each = part * each;
    keep(pass, row, mean(memory));
    row = batch_sum(pass, v, mean(memory), v.gradients[3]);
    for (T& each : row) each = T(1) / std::sqrt(part * each + T(spec_.eps));
    keep(pass, row, inv_std(memory, pass));
    pass.kernels.batch_norm_normalise({.channels = channels_,
                                       .pixels = pixels_,
                                       .x = v.x,
                                       .gamma = v.parameters[0],
                                       .beta = v.parameters[1],
                                       .mean = mean(memory),
                                       .inv_std = inv_std(memory, pass),
                                       .y = v.y},
                                      pass.context);
  }

  /// The chunk's dgamma and dbeta are there: q and p are their sums over the batch.
  void backward_batch(const Pass<T>& pass, const LayerViews<T>& v, LayerMemory<T>& memory) const {
    const auto count = static_cast<std::size_t>(channels_);
    std::vector<T> sums(2 * count);
    download<T>(pass, v.gradients[1], std::span(sums).first(count));
    download<T>(pass, v.gradients[0], std::span(sums).last(count));
    if (pass.batch != nullptr) pass.batch->add_up(sums);
    if (v.dx.data == nullptr) return;
    T* const p = memory.saved.data() + 2 * pass.slots.count() * channels_;
    upload<T>(pass, sums, p);
    pass.kernels.batch_norm_backward_data({.channels = channels_,
                                           .pixels = pixels_,
                                           .x = v.x,
                                           .dy = v.dy,
                                           .gamma = v.parameters[0],
                                           .mean = mean(memory),
                                           .inv_std = inv_std(memory, pass),
                                           .p = p,
                                           .q = p + channels_,
                                           .share = share(pass, v),
                                           .dx = v.dx},
                                          pass.context);
  }

  T* mean(LayerMemory<T>& memory) const { return memory.saved.data(); }
  T* inv_std(LayerMemory<T>& memory, const Pass<T>& pass) const {
    return memory.saved.data() + pass.slots.count() * channels_;
  }

  BatchNorm spec_;
  std::int64_t channels_, pixels_;
};

}  // namespace

std::int64_t batch_wide_layers(const std::vector<LayerPlan>& plans) {
  std::int64_t count = 0;
  for_each_layer(plans, [&](const LayerPlan& plan) {
    const auto* norm = std::get_if<BatchNorm>(&plan.spec.kind);
    if (norm != nullptr && norm->over == NormOver::batch) ++count;
  });
  return count;
}

std::string BatchNorm::detail() const {
  return fmt::format("momentum {}, eps {}{}", momentum, eps, over == NormOver::batch ? ", over the batch" : "");
}

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
