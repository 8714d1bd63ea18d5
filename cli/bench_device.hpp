#pragma once
// The primitives on the device that this machine has, if it has one.

#include <functional>
#include <memory>
#include <string>

#include "cli/bench_limits.hpp"
#include "lockstep/core/aligned.hpp"
#include "lockstep/kernels/device/device.hpp"

namespace lockstep::cli {

/// CUDA before OpenCL. Null where there is neither; `why` then says so in a line.
std::shared_ptr<Device> find_bench_device(std::string& why);

/// Fills in what a launch costs there.
void measure_device_limits(Device& device, PrimitiveLimits& limits);

/// An array there, of as many elements as the host's, which stays where it is.
template <class T>
AlignedBuffer<T> copy_to(Device& device, const AlignedBuffer<T>& host) {
  AlignedBuffer<T> copy(host.size(), device);
  device.to_device(copy.data(), host.data(), host.size() * static_cast<std::int64_t>(sizeof(T)));
  return copy;
}

}  // namespace lockstep::cli
