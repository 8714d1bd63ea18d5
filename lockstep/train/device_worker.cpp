#include "lockstep/train/device_worker.hpp"

#include <algorithm>
#include <cstring>

#include "lockstep/lab/lap.hpp"

namespace lockstep {

template <class T>
DeviceWorker<T>::DeviceWorker(DeviceModel<T>& model, Mode mode)
    : model_(model),
      mode_(mode),
      body_(mode == Mode::training ? model.body : model.scored_body()),
      stage_(mode == Mode::training ? model.setup.stage : model.setup.scored_stage()),
      feed_(model.device, stage_) {}

template <class T>
void DeviceWorker<T>::reserve(std::int64_t samples, std::int64_t slots) {
  if (samples <= samples_ && slots <= slots_) return;
  samples_ = std::max(samples, samples_);
  slots_ = std::max(slots, slots_);
  const bool training = mode_ == Mode::training;
  memory_ = {};  // first the old one: both may not fit
  memory_ = body_.make_memory(samples_, training ? slots_ : 0, model_.device);
  losses_ = AlignedBuffer<T>(most_losses(stage_) * padded(samples_), model_.device);
  scores_ = AlignedBuffer<std::byte>(slots_ * 16, model_.device);
  if (training) gradient_ = AlignedBuffer<T>(stage_.outputs * padded(samples_), model_.device);
}

template <class T>
void DeviceWorker<T>::launch(const DeviceSamples<T>& samples, Slots slots, const Batch* batch, T* gradients,
                             PhaseTimes& times, BatchSum<T>* sum, std::int64_t first) {
  const TrainOptions& options = model_.setup.options;
  const std::int64_t count = samples.x.cols, outputs = stage_.outputs;
  Pass<T> pass{.kernels = model_.kernels, .context = model_.context, .parameters = model_.weights.data()};
  pass.slots = slots;
  pass.sample_ids = samples.ids;
  pass.lengths = samples.lengths;
  pass.seed = options.seed;
  Matrix<T> dy;
  if (batch != nullptr) {
    pass.gradients = gradients;
    pass.training = true;
    pass.batch = sum;
    pass.state_before = model_.carried.before(*batch, first, count);
    pass.state_after = model_.carried.after(*batch, first, count);
    pass.epoch = static_cast<std::uint32_t>(batch->epoch);
    pass.recorder = batch->recorder(0);
    dy = {gradient_.data(), outputs, count, padded(count)};
  }
  Lap lap;
  const ConstMatrix<T> y = body_.forward(pass, samples.x, memory_);
  lap(times.forward);
  outputs_ = y;
  LossGradient<T> arguments = options.loss_options().arguments<T>(batch != nullptr);
  if (batch != nullptr) arguments.scale = loss_scale<T>(options.reduction, *batch);
  // With a class for every step, each step of a sample is a column of the output.
  const std::int64_t steps = std::max<std::int64_t>(samples.steps, 1), columns = (steps - 1) * y.stride + count;
  arguments.z = {y.data, outputs / steps, columns, steps * y.stride};
  arguments.targets = samples.targets;
  arguments.weights = samples.weights;
  arguments.loss = losses_.data();
  if (batch != nullptr) arguments.dz = {dy.data, outputs / steps, columns, steps * dy.stride};
  model_.kernels.loss_gradient(arguments, model_.context);
  auto* const sums = reinterpret_cast<double*>(scores_.data());
  model_.kernels.score_slots({.kind = options.loss,
                              .z = arguments.z,
                              .labels = samples.targets.labels,
                              .loss = losses_.data(),
                              .slots = slots,
                              .steps = steps,
                              .step_stride = y.stride,
                              .lengths = samples.steps > 0 ? samples.lengths : nullptr,
                              .sum = sums,
                              .correct = reinterpret_cast<std::int64_t*>(sums + slots.count())},
                             model_.context);
  lap(times.loss);
  if (batch == nullptr) return;
  batch->close(0, kLossSection, loss_cost(outputs, count, sizeof(T)));
  body_.backward(pass, samples.x, memory_, dy, {});
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

template <class T>
std::vector<T> DeviceWorker<T>::fetch_outputs() const {
  const std::int64_t room = (outputs_.rows - 1) * outputs_.stride + outputs_.cols;
  std::vector<T> raw(static_cast<std::size_t>(room)), dense;
  model_.device.to_host(raw.data(), outputs_.data, room * static_cast<std::int64_t>(sizeof(T)));
  for (std::int64_t k = 0; k < outputs_.rows; ++k)
    dense.insert(dense.end(), raw.begin() + k * outputs_.stride, raw.begin() + k * outputs_.stride + outputs_.cols);
  return dense;
}

template class DeviceWorker<float>;
template class DeviceWorker<double>;

}  // namespace lockstep
