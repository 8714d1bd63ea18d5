#pragma once
// Training on a device: weights, optimiser state, activations and gradients stay there. A step uploads one block of
// samples (DeviceFeed) and downloads the scores of its slots. What happens in a step stands in device_step.cpp.

#include <memory>
#include <vector>

#include "lockstep/train/device_step.hpp"

namespace lockstep {

/// Copies stand among the kernels of a profile, by these names.
inline constexpr const char *kCopyToDevice = "copy to the device", *kCopyToHost = "copy to the host";

/// The device of this rank: those of a host take turns. Error(usage) where options ask for what devices do not do.
std::shared_ptr<Device> device_of_rank(const TrainOptions& options, Ranks& ranks);

template <class T>
class DeviceExecutor final : public Executor {
 public:
  /// `kernels` are those of the device.
  DeviceExecutor(TrainingSetup& setup, std::shared_ptr<Device> device, const KernelTable<T>& kernels);

  int members() const override { return 1; }  // the thread that launches
  void prepare(const Dataset& data) override;
  void begin_fit(const Dataset& data, Profile* profile) override;
  void end_fit(bool complete) override;
  void resume_window(std::int64_t window, std::int64_t samples) override;
  StepResult train_batch(const Member& member, const Batch& batch) override;
  Cost score(const Member& member, const Dataset& data, SlotScores& blocks) override;
  std::vector<double> gradient(const Batch& batch) override;
  bool collect(Collect what) override;
  void average(double share) override {
    model_.average.take(share, model_.weights.data(), model_.kernels, model_.context);
  }
  void swap_average() override;
  double penalty() override;
  PhaseTimes take_times() override { return step_.take_times(); }
  void save(TrainingState& state) const override;
  void restore(const TrainingState& state) override;

  /// The largest chunk of a batch, in slots.
  std::int64_t slots_per_chunk() const { return step_.slots_per_chunk(); }

 private:
  void end_profile(bool complete);
  void upload_to(T* to, const AlignedBuffer<T>& vector);
  void score_on_host(const Dataset& data, std::span<const std::int64_t> ids, std::int64_t first_block,
                     SampleScores& scores) const;

  DeviceModel<T> model_;
  DeviceStep<T> step_;
  DeviceWorker<T> scorer_;
  // During a fit the device has the newest weights; outside of one the network has them, and its user may change them.
  bool in_fit_ = false;
  AlignedBuffer<T> carried_;    // between two windows, of all ranks: once collected, or restored
  Profile* profile_ = nullptr;  // of the present fit
  DeviceTraffic traffic_;       // when the profile began
};

}  // namespace lockstep
