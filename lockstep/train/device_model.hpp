#pragma once
// What stays on the device from step to step: weights, optimiser state, and the kernels that work on them.

#include <cstdint>
#include <memory>
#include <optional>

#include "lockstep/kernels/device/device.hpp"
#include "lockstep/nn/sequence.hpp"
#include "lockstep/train/executor.hpp"
#include "lockstep/train/update.hpp"
#include "lockstep/train/windows.hpp"

namespace lockstep {

template <class T>
struct DeviceModel {
  /// Error(usage) when the device lacks this precision.
  DeviceModel(TrainingSetup& setup, std::shared_ptr<Device> device, const KernelTable<T>& kernels);

  /// The network's weights to the device and back.
  void upload();
  void download();
  /// Whether gradients go from device to device: the transport takes the device's addresses. A library's sum goes
  /// through the host.
  bool moves_device_memory() const;
  const Sequence<T>& scored_body() const { return whole_body ? *whole_body : body; }
  bool is_alone() const { return setup.ranks.size() == 1; }

  TrainingSetup& setup;
  std::shared_ptr<Device> owner;
  Device& device;
  KernelTable<T> kernels;
  KernelContext context;
  Sequence<T> body;
  std::optional<Sequence<T>> whole_body{};  // of evaluations, where training sees windows of sequences
  CarriedState<T> carried;
  AlignedBuffer<T> weights;
  Update<T> update;
  RunningAverage<T> average;  // of the weights; empty where none is wanted
  SquareSum<T> square_sum;
};

/// The most losses of a sample: one, or those of all steps.
std::int64_t most_losses(const Stage& stage);

/// Slots and samples of the largest chunk.
struct ChunkSize {
  std::int64_t slots = 1, samples = 0;
};

/// As many of a batch's slots together as the device has memory for: all, half of them, and so on. Any choice gives the
/// same bits. Error(resources) where one slot does not fit.
template <class T>
ChunkSize choose_chunk(const DeviceModel<T>& model, const Dataset& data, std::int64_t slots);

/// Whether a chunk of an evaluation fits.
template <class T>
bool fits_inference(const DeviceModel<T>& model, const Dataset& data, std::int64_t samples, std::int64_t slots);

}  // namespace lockstep
