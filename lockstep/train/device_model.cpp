#include "lockstep/train/device_model.hpp"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "lockstep/core/error.hpp"
#include "lockstep/kernels/device/launch.hpp"
#include "lockstep/train/device_feed.hpp"

namespace lockstep {

namespace {

/// The share of a device's memory that a training may take where the device does not say what it has: drivers and
/// compiled kernels need some of it.
constexpr double kShareOfMemory = 0.9;

/// Counts the bytes of allocations, and allocates nothing.
class MeasuringMemory final : public Memory {
 public:
  std::byte* allocate(std::int64_t bytes) override {
    total += bytes;
    largest = std::max(largest, bytes);
    return reinterpret_cast<std::byte*>(kCacheLine);  // NOLINT(performance-no-int-to-ptr): never followed
  }
  void release(std::byte*) noexcept override {}
  void copy_within(std::byte*, const std::byte*, std::int64_t) override {}

  std::int64_t total = 0, largest = 0;
};

struct Needs {
  std::int64_t bytes = 0, largest = 0;  // of all, and of one allocation
};

/// A chunk of `samples` in `chunk_slots` (0: for inference), of batches with `slots`: its memory, and what stays on the
/// device whatever the chunk (weights, the optimiser's state, a few gradients).
template <class T>
Needs needs_of(const DeviceModel<T>& model, const Dataset& data, std::int64_t samples, std::int64_t chunk_slots,
               std::int64_t slots) {
  const bool training = chunk_slots > 0;
  const Stage& stage = training ? model.setup.stage : model.setup.scored_stage();
  MeasuringMemory memory;
  static_cast<void>((training ? model.body : model.scored_body()).make_memory(samples, chunk_slots, memory));
  static_cast<void>(AlignedBuffer<T>((stage.outputs + most_losses(stage)) * padded(samples), memory));
  for (int block = 0; block < 2; ++block)
    static_cast<void>(AlignedBuffer<std::byte>(feed_bytes<T>(stage, data, samples), memory));
  const auto chunks = static_cast<std::uint64_t>(chunk_slots > 0 ? slots / chunk_slots : 1);
  // Of the tree's left branches; of all ranks, and what comes in from them.
  const std::int64_t total = model.is_alone()              ? 0
                             : model.moves_device_memory() ? 1 + std::bit_width(static_cast<std::uint64_t>(slots))
                                                           : 1;
  const std::int64_t averages = model.setup.options.average.any() ? 2 : 0;
  const std::int64_t vectors =
      1 + state_vectors(model.setup.options.optimizer) + averages + std::bit_width(chunks) + total;
  const std::int64_t parameters = stage.count * static_cast<std::int64_t>(sizeof(T));
  // Kernels keep the sums of chunks of slots aside.
  const std::int64_t scratch = std::min(device::kMostScratch, chunk_slots * parameters);
  return {.bytes = memory.total + vectors * parameters + scratch + model.device.info().library_bytes,
          .largest = memory.largest};
}

std::int64_t available_bytes(const DeviceInfo& info) {
  return info.available_bytes > 0 ? info.available_bytes
                                  : static_cast<std::int64_t>(kShareOfMemory * double(info.memory_bytes));
}

bool fits(const Needs& needs, const DeviceInfo& info) {
  return needs.bytes <= available_bytes(info) &&
         (info.max_allocation_bytes == 0 || needs.largest <= info.max_allocation_bytes);
}

double gigabytes(std::int64_t bytes) { return double(bytes) / 1e9; }

[[noreturn]] void fail_too_large(std::int64_t samples, const Needs& needs, const DeviceInfo& info) {
  throw Error(
      ErrorCode::resources,
      fmt::format("{} samples at a time need {:.2f} GB on {}, which has {:.2f} GB, {:.2f} GB of them for this run{}: "
                  "lower train.batch, or raise train.slots",
                  samples, gigabytes(needs.bytes), info.name, gigabytes(info.memory_bytes),
                  gigabytes(available_bytes(info)),
                  info.max_allocation_bytes == 0
                      ? ""
                      : fmt::format(" and gives {:.2f} GB at once", gigabytes(info.max_allocation_bytes))));
}

}  // namespace

std::int64_t most_losses(const Stage& stage) {
  return stage.plans.empty() || stage.plans.back().out.rank() != 2 ? 1 : stage.plans.back().out[1];
}

template <class T>
DeviceModel<T>::DeviceModel(TrainingSetup& of, std::shared_ptr<Device> on, const KernelTable<T>& table)
    : setup(of),
      owner(std::move(on)),
      device(*owner),
      kernels(table),
      context(&device),
      body(of.stage.plans),
      carried(device),
      weights(std::max<std::int64_t>(of.stage.count, 1), device),
      update(of.options.optimizer, of.stage.parameters, of.options.frozen, of.stage.trainable, device),
      average(of.options.average.any() ? of.stage.count : 0, device) {
  if (!of.whole_parts.empty()) whole_body.emplace(of.scored_stage().plans);
  if (sizeof(T) == 8 && !device.info().float64)
    throw Error(ErrorCode::usage,
                fmt::format("{} has no float64: set model.precision = \"float32\", or use the backend "
                            "simd",
                            device.info().name));
}

template <class T>
void DeviceModel<T>::upload() {
  device.to_device(weights.data(), setup.network.template data<T>(),
                   setup.stage.count * static_cast<std::int64_t>(sizeof(T)));
}

template <class T>
void DeviceModel<T>::download() {
  device.to_host(setup.network.template data<T>(), weights.data(),
                 setup.stage.count * static_cast<std::int64_t>(sizeof(T)));
}

template <class T>
bool DeviceModel<T>::moves_device_memory() const {
  return setup.ranks.transport().takes_memory_of(device.info().backend) &&
         setup.options.parallel.reduce != RankReduction::library;
}

template <class T>
ChunkSize choose_chunk(const DeviceModel<T>& model, const Dataset& data, std::int64_t slots) {
  const std::vector<std::int64_t> bounds = cut_into_slots(model.setup.batch_for(data), slots);
  for (ChunkSize chunk{.slots = slots};; chunk.slots /= 2) {
    chunk.samples = 0;
    for (std::int64_t slot = 0; slot < slots; slot += chunk.slots)
      chunk.samples = std::max(
          chunk.samples, bounds[static_cast<std::size_t>(slot + chunk.slots)] - bounds[static_cast<std::size_t>(slot)]);
    const Needs needs = needs_of(model, data, chunk.samples, chunk.slots, slots);
    if (fits(needs, model.device.info())) return chunk;
    if (chunk.slots == 1) fail_too_large(chunk.samples, needs, model.device.info());
  }
}

template <class T>
bool fits_inference(const DeviceModel<T>& model, const Dataset& data, std::int64_t samples, std::int64_t slots) {
  return fits(needs_of(model, data, samples, 0, slots), model.device.info());
}

template struct DeviceModel<float>;
template struct DeviceModel<double>;
template ChunkSize choose_chunk(const DeviceModel<float>&, const Dataset&, std::int64_t);
template ChunkSize choose_chunk(const DeviceModel<double>&, const Dataset&, std::int64_t);
template bool fits_inference(const DeviceModel<float>&, const Dataset&, std::int64_t, std::int64_t);
template bool fits_inference(const DeviceModel<double>&, const Dataset&, std::int64_t, std::int64_t);

}  // namespace lockstep
