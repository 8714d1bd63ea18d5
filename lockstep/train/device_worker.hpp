#pragma once
// Carries chunks through the network on the device, forward and back: launched, not awaited. The counterpart of Worker
// (distribute/worker.hpp).

#include <cstdint>
#include <vector>

#include "lockstep/train/device_feed.hpp"
#include "lockstep/train/device_model.hpp"

namespace lockstep {

template <class T>
class DeviceWorker {
 public:
  enum class Mode { training, inference };
  /// `model` must outlive it.
  DeviceWorker(DeviceModel<T>& model, Mode mode);

  /// Memory for chunks of up to `samples` in `slots`.
  void reserve(std::int64_t samples, std::int64_t slots);
  std::int64_t reserved_slots() const { return slots_; }

  /// Brings samples to the device.
  DeviceFeed<T>& feed() { return feed_; }

  /// Forward, loss, scores and, in training, backward into `gradients`. `batch`: null in inference. `sum`: null where
  /// no layer needs sums over the batch. `first`: the place of the first sample in the batch.
  void launch(const DeviceSamples<T>& samples, Slots slots, const Batch* batch, T* gradients, PhaseTimes& times,
              BatchSum<T>* sum = nullptr, std::int64_t first = 0);
  /// Downloads the outputs of the chunk that was launched last, once its scores were fetched: [outputs][samples].
  std::vector<T> fetch_outputs() const;
  /// Waits for the device, and downloads the scores of the chunk that was launched last: entries from `first` on.
  void fetch_scores(std::int64_t slots, std::int64_t first, SlotScores& scores, PhaseTimes& times);

 private:
  DeviceModel<T>& model_;
  Mode mode_;
  const Sequence<T>& body_;
  const Stage& stage_;
  DeviceFeed<T> feed_;
  std::int64_t samples_ = 0, slots_ = 0;  // what the memory is for
  SequenceMemory<T> memory_;
  AlignedBuffer<T> losses_, gradient_;  // by sample; of the network's output
  AlignedBuffer<std::byte> scores_;     // sums of losses and counts of slots
  std::vector<std::byte> host_scores_;
  ConstMatrix<T> outputs_{};  // of the last chunk
};

}  // namespace lockstep
