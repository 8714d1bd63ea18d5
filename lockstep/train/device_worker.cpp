#include "lockstep/train/device_worker.hpp"

#include <algorithm>
#include <cstring>

#include "lockstep/lab/lap.hpp"

namespace lockstep {

template <class T>
DeviceWorker<T>::DeviceWorker(DeviceModel<T>& model, Mode mode)
    : model_(model), mode_(mode), feed_(model.device, model.setup.stage) {}

template <class T>
void DeviceWorker<T>::reserve(std::int64_t samples, std::int64_t slots) {
  if (samples <= samples_ && slots <= slots_) return;
  samples_ = std::max(samples, samples_);
  slots_ = std::max(slots, slots_);
  const bool training = mode_ == Mode::training;
  memory_ = {};  // first the old one: both may not fit
  memory_ = model_.body.make_memory(samples_, training ? slots_ : 0, model_.device);
  losses_ = AlignedBuffer<T>(padded(samples_), model_.device);
  scores_ = AlignedBuffer<std::byte>(slots_ * 16, model_.device);
  if (training) gradient_ = AlignedBuffer<T>(model_.setup.stage.outputs * padded(samples_), model_.device);
}

template <class T>
void DeviceWorker<T>::launch(const DeviceSamples<T>& samples, Slots slots, const Batch* batch, T* gradients,
                             PhaseTimes& times) {
  const TrainOptions& options = model_.setup.options;
  const std::int64_t count = samples.x.cols, outputs = model_.setup.stage.outputs;
  Pass<T> pass{.kernels = model_.kernels, .context = model_.context, .parameters = model_.weights.data()};
  pass.slots = slots;
  pass.sample_ids = samples.ids;
  pass.seed = options.seed;
  Matrix<T> dy;
  if (batch != nullptr) {
    pass.gradients = gradients;
    pass.training = true;
    pass.epoch = static_cast<std::uint32_t>(batch->epoch);
    pass.recorder = batch->recorder(0);
    dy = {gradient_.data(), outputs, count, padded(count)};
  }
  Lap lap;
  const ConstMatrix<T> y = model_.body.forward(pass, samples.x, memory_);
  lap(times.forward);
  model_.kernels.loss_gradient({.kind = options.loss,
                                .scale = batch != nullptr ? loss_scale<T>(options.reduction, *batch) : T(1),
                                .z = y,
                                .targets = samples.targets,
                                .weights = samples.weights,
                                .loss = losses_.data(),
                                .dz = dy},
                               model_.context);
  auto* const sums = reinterpret_cast<double*>(scores_.data());
  model_.kernels.score_slots({.kind = options.loss,
                              .z = y,
                              .labels = samples.targets.labels,
                              .loss = losses_.data(),
                              .slots = slots,
                              .sum = sums,
                              .correct = reinterpret_cast<std::int64_t*>(sums + slots.count())},
                             model_.context);
  lap(times.loss);
  if (batch == nullptr) return;
  batch->close(0, kLossSection, loss_cost(outputs, count, sizeof(T)));
  model_.body.backward(pass, samples.x, memory_, dy, {});
  lap(times.backward);
}

template <class T>
void DeviceWorker<T>::fetch_scores(std::int64_t slots, std::int64_t first, SlotScores& scores, PhaseTimes& times) {
  Lap lap;
  const auto part = static_cast<std::size_t>(slots) * 8;
  host_scores_.resize(std::max(host_scores_.size(), 2 * part));
  model_.device.to_host(host_scores_.data(), scores_.data(), static_cast<std::int64_t>(2 * part));
  std::memcpy(scores.loss.data() + first, host_scores_.data(), part);
  std::memcpy(scores.correct.data() + first, host_scores_.data() + part, part);
  lap(times.wait);
}

template class DeviceWorker<float>;
template class DeviceWorker<double>;

}  // namespace lockstep
