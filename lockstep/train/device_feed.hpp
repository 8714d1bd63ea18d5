#pragma once
// Samples on their way to a device: the inputs, targets, weights and ids of a chunk are one block of bytes, uploaded by
// one copy. There are two blocks, on the host and on the device: while the device computes with one, the host gathers
// the next, and its copy runs beside the kernels.

#include <array>
#include <cstdint>
#include <span>

#include "lockstep/core/aligned.hpp"
#include "lockstep/data/dataset.hpp"
#include "lockstep/data/sample_weights.hpp"
#include "lockstep/distribute/stage.hpp"
#include "lockstep/distribute/step_targets.hpp"
#include "lockstep/kernels/device/device.hpp"
#include "lockstep/kernels/loss.hpp"

namespace lockstep {

/// A chunk that is on the device: every address is the device's.
template <class T>
struct DeviceSamples {
  ConstMatrix<T> x;
  LossTargets<T> targets;
  const T* weights = nullptr;  // null: every sample counts 1
  std::span<const std::int64_t> ids;
  const std::int64_t* lengths = nullptr;  // of the sequences; null: all have all steps
  std::int64_t steps = 0;                 // above 0: labels, and weights where there are lengths, are of all steps
};

/// The bytes of a chunk of weighted samples, each part on cache lines of its own: the most that a feed takes.
template <class T>
std::int64_t feed_bytes(const Stage& stage, const Dataset& data, std::int64_t samples);

template <class T>
class DeviceFeed {
 public:
  /// For samples with the inputs of `stage`, and targets of its outputs. Both must outlive it.
  DeviceFeed(Device& device, const Stage& stage) : device_(device), stage_(stage) {}
  ~DeviceFeed() { clear(); }
  DeviceFeed(const DeviceFeed&) = delete;
  DeviceFeed& operator=(const DeviceFeed&) = delete;

  /// Gathers these samples and begins to copy them. One chunk may be waiting at a time; the one taken before the last
  /// must have been computed.
  /// `weights`: null: every sample counts 1.
  void begin(const Dataset& data, std::span<const std::int64_t> ids, const SampleWeights* weights = nullptr);
  /// The chunk that was taken last, once more.
  void repeat();
  bool waiting() const { return waiting_; }
  /// The waiting chunk: kernels launched from now on find it.
  DeviceSamples<T> take();
  /// Drops the waiting chunk.
  void clear() noexcept;

 private:
  struct Block {
    AlignedBuffer<std::byte> host, device;
    Device::Ticket ticket = 0;
    bool joined = true;  // kernels that are launched come after its copy
    DeviceSamples<T> samples;
  };

  Device& device_;
  const Stage& stage_;
  StepTargets<T> step_targets_;
  std::array<Block, 2> blocks_;
  std::size_t next_ = 0;  // the block that begin() fills
  bool waiting_ = false;
};

}  // namespace lockstep
