#include "lockstep/train/device_feed.hpp"

#include <algorithm>

#include "lockstep/nn/layer.hpp"

namespace lockstep {

namespace {

std::int64_t on_lines(std::int64_t bytes) {
  constexpr auto kLine = static_cast<std::int64_t>(kCacheLine);
  return (bytes + kLine - 1) / kLine * kLine;
}

}  // namespace

template <class T>
std::int64_t feed_bytes(const Stage& stage, const Dataset& data, std::int64_t samples) {
  constexpr auto kScalar = static_cast<std::int64_t>(sizeof(T));
  const std::int64_t targets = data.classes() > 0 ? samples * 4 : stage.outputs * padded(samples) * kScalar;
  return on_lines(stage.inputs * padded(samples) * kScalar) + on_lines(targets) + on_lines(samples * kScalar) +
         on_lines(samples * 8);
}
template std::int64_t feed_bytes<float>(const Stage&, const Dataset&, std::int64_t);
template std::int64_t feed_bytes<double>(const Stage&, const Dataset&, std::int64_t);

template <class T>
void DeviceFeed<T>::begin(const Dataset& data, std::span<const std::int64_t> ids, const SampleWeights* weights) {
  Block& block = blocks_[next_];
  device_.flush();                                    // it computes what was launched while the host gathers
  if (block.ticket != 0) device_.wait(block.ticket);  // the host's bytes are free again
  const auto samples = static_cast<std::int64_t>(ids.size()), stride = padded(samples);
  const bool labels = data.classes() > 0;
  const std::int64_t bytes = feed_bytes<T>(stage_, data, samples);
  if (block.host.size() < bytes) {
    block.host = AlignedBuffer<std::byte>(bytes);
    block.device = {};  // first the old one: both may not fit
    block.device = AlignedBuffer<std::byte>(bytes, device_);
    device_.synchronize();  // memory is zeroed in its turn, and the copy below does not wait for that
  }
  const std::int64_t targets_at = on_lines(stage_.inputs * stride * static_cast<std::int64_t>(sizeof(T)));
  const std::int64_t ids_at = bytes - on_lines(samples * 8);
  const std::int64_t weights_at = ids_at - on_lines(samples * static_cast<std::int64_t>(sizeof(T)));
  std::byte* const here = block.host.data();
  std::byte* const there = block.device.data();
  data.gather(ids, Matrix<T>{reinterpret_cast<T*>(here), stage_.inputs, samples, stride});
  block.samples = {.x = {reinterpret_cast<const T*>(there), stage_.inputs, samples, stride},
                   .targets = {},
                   .weights = weights != nullptr ? reinterpret_cast<const T*>(there + weights_at) : nullptr,
                   .ids = {reinterpret_cast<const std::int64_t*>(there + ids_at), ids.size()}};
  if (labels) {
    data.labels(ids, {reinterpret_cast<std::int32_t*>(here + targets_at), ids.size()});
    block.samples.targets.labels = reinterpret_cast<const std::int32_t*>(there + targets_at);
  } else {
    data.targets(ids, Matrix<T>{reinterpret_cast<T*>(here + targets_at), stage_.outputs, samples, stride});
    block.samples.targets.values = {reinterpret_cast<const T*>(there + targets_at), stage_.outputs, samples, stride};
  }
  if (weights != nullptr) weights->gather(ids, std::span<T>(reinterpret_cast<T*>(here + weights_at), ids.size()));
  std::copy(ids.begin(), ids.end(), reinterpret_cast<std::int64_t*>(here + ids_at));
  block.ticket = device_.begin_to_device(there, here, bytes);
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
