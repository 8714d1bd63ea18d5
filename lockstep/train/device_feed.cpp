#include "lockstep/train/device_feed.hpp"

#include <algorithm>

#include "lockstep/nn/layer.hpp"

namespace lockstep {

namespace {

std::int64_t on_lines(std::int64_t bytes) {
  constexpr auto kLine = static_cast<std::int64_t>(kCacheLine);
  return (bytes + kLine - 1) / kLine * kLine;
}

/// Whether the loss takes targets as numbers.
bool takes_numbers(const Dataset& data) {
  return data.step_classes() == 0 && (data.classes() == 0 || data.has_soft_targets());
}

/// Labels of a chunk: none, of samples, or of all steps.
std::int64_t label_count(const Dataset& data, std::int64_t samples) {
  if (data.step_classes() > 0) return data.target_size() * padded(samples);
  return data.classes() > 0 ? samples : 0;
}

/// Steps behind a sample's end have weight 0.
bool weighs_steps(const Dataset& data) { return data.step_classes() > 0 && data.has_lengths(); }

/// Where the parts of a chunk begin, in bytes; each has cache lines of its own.
struct FeedLayout {
  std::int64_t labels, targets, weights, lengths, ids, bytes;
};

template <class T>
FeedLayout layout_of(const Stage& stage, const Dataset& data, std::int64_t samples, bool weighted) {
  constexpr auto kScalar = static_cast<std::int64_t>(sizeof(T));
  FeedLayout at{};
  at.labels = on_lines(stage.inputs * padded(samples) * kScalar);
  at.targets = at.labels + on_lines(label_count(data, samples) * 4);
  at.weights = at.targets + (takes_numbers(data) ? on_lines(stage.outputs * padded(samples) * kScalar) : 0);
  const std::int64_t weights = weighs_steps(data) ? label_count(data, samples) : weighted ? samples : 0;
  at.lengths = at.weights + on_lines(weights * kScalar);
  at.ids = at.lengths + (data.has_lengths() ? on_lines(samples * 8) : 0);
  at.bytes = at.ids + on_lines(samples * 8);
  return at;
}

}  // namespace

template <class T>
std::int64_t feed_bytes(const Stage& stage, const Dataset& data, std::int64_t samples) {
  return layout_of<T>(stage, data, samples, true).bytes;
}
template std::int64_t feed_bytes<float>(const Stage&, const Dataset&, std::int64_t);
template std::int64_t feed_bytes<double>(const Stage&, const Dataset&, std::int64_t);

template <class T>
void DeviceFeed<T>::begin(const Dataset& data, std::span<const std::int64_t> ids, const SampleWeights* weights) {
  Block& block = blocks_[next_];
  device_.flush();                                    // it computes what was launched while the host gathers
  if (block.ticket != 0) device_.wait(block.ticket);  // the host's bytes are free again
  const auto samples = static_cast<std::int64_t>(ids.size()), stride = padded(samples);
  const FeedLayout at = layout_of<T>(stage_, data, samples, weights != nullptr);
  if (block.host.size() < at.bytes) {
    block.host = AlignedBuffer<std::byte>(at.bytes);
    block.device = {};  // first the old one: both may not fit
    block.device = AlignedBuffer<std::byte>(at.bytes, device_);
    device_.synchronize();  // memory is zeroed in its turn, and the copy below does not wait for that
  }
  std::byte* const here = block.host.data();
  std::byte* const there = block.device.data();
  data.gather(ids, Matrix<T>{reinterpret_cast<T*>(here), stage_.inputs, samples, stride});
  block.samples = {.x = {reinterpret_cast<const T*>(there), stage_.inputs, samples, stride},
                   .targets = {},
                   .weights = weights != nullptr ? reinterpret_cast<const T*>(there + at.weights) : nullptr,
                   .ids = {reinterpret_cast<const std::int64_t*>(there + at.ids), ids.size()}};
  if (data.has_lengths()) {
    data.lengths(ids, {reinterpret_cast<std::int64_t*>(here + at.lengths), ids.size()});
    block.samples.lengths = reinterpret_cast<const std::int64_t*>(there + at.lengths);
  }
  if (data.step_classes() > 0) {
    auto* const step_weights = weighs_steps(data) ? reinterpret_cast<T*>(here + at.weights) : nullptr;
    const std::span lengths(reinterpret_cast<const std::int64_t*>(here + at.lengths),
                            data.has_lengths() ? ids.size() : 0);
    step_targets_.gather(data, ids, stride, reinterpret_cast<std::int32_t*>(here + at.labels), lengths, step_weights);
    block.samples.targets.labels = reinterpret_cast<const std::int32_t*>(there + at.labels);
    if (step_weights != nullptr) block.samples.weights = reinterpret_cast<const T*>(there + at.weights);
    block.samples.steps = data.target_size();
  } else if (data.classes() > 0) {
    data.labels(ids, {reinterpret_cast<std::int32_t*>(here + at.labels), ids.size()});
    block.samples.targets.labels = reinterpret_cast<const std::int32_t*>(there + at.labels);
  }
  if (takes_numbers(data)) {
    data.targets(ids, Matrix<T>{reinterpret_cast<T*>(here + at.targets), stage_.outputs, samples, stride});
    block.samples.targets.values = {reinterpret_cast<const T*>(there + at.targets), stage_.outputs, samples, stride};
  }
  if (weights != nullptr) weights->gather(ids, std::span<T>(reinterpret_cast<T*>(here + at.weights), ids.size()));
  std::copy(ids.begin(), ids.end(), reinterpret_cast<std::int64_t*>(here + at.ids));
  block.ticket = device_.begin_to_device(there, here, at.bytes);
  block.joined = false;
  waiting_ = true;
}

template <class T>
void DeviceFeed<T>::repeat() {
  next_ = 1 - next_;
  waiting_ = true;
}

template <class T>
DeviceSamples<T> DeviceFeed<T>::take() {
  Block& block = blocks_[next_];
  if (!block.joined) device_.join(block.ticket);
  block.joined = true;
  next_ = 1 - next_;
  waiting_ = false;
  return block.samples;
}

template <class T>
void DeviceFeed<T>::clear() noexcept {
  waiting_ = false;
  for (Block& block : blocks_) {
    if (block.ticket == 0) continue;
    try {
      device_.wait(block.ticket);
    } catch (...) {  // the device is lost, and with it the copy
    }
    block.ticket = 0;
  }
}

template class DeviceFeed<float>;
template class DeviceFeed<double>;

}  // namespace lockstep
