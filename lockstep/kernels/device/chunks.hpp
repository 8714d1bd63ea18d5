#pragma once
// Weight gradients, cut over slots where their outputs alone would leave a device idle.
#include "lockstep/kernels/device/launch.hpp"

namespace lockstep::device {

/// How many aligned chunks of slots get work-groups of their own: a power of two, enough to keep the device busy with
/// `groups` work-groups each, while the sums of all chunks, `count` each, stay small.
template <class T>
std::int64_t slot_chunks(const Device& device, std::int64_t slots, std::int64_t groups, std::int64_t count) {
  constexpr std::int64_t kMostBytes = std::int64_t{64} << 20;
  std::int64_t chunks = 1;
  while (chunks < slots && chunks * groups < kTurns * device.info().compute_units &&
         2 * chunks * count * static_cast<std::int64_t>(sizeof(T)) <= kMostBytes)
    chunks *= 2;
  return chunks;
}

/// y = the tree over what the chunks left at sums, sums + step, ...
template <class T>
void add_chunks(KernelContext& context, const T* sums, std::int64_t step, std::int64_t chunks, T* y,
                std::int64_t count) {
  start<T>(context, "add_slots", over_vector(context.device(), Style::naive, count), sums, step, chunks, y, count);
}

}  // namespace lockstep::device
