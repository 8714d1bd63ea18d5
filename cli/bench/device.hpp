#pragma once
// What the benchmarks need of devices.

#include <functional>
#include <memory>
#include <string>

#include "cli/bench/limits.hpp"
#include "cli/bench/machine.hpp"
#include "lockstep/core/aligned.hpp"
#include "lockstep/kernels/device/device.hpp"
#include "lockstep/lab/measure.hpp"

namespace lockstep::cli {

/// CUDA before OpenCL. Null where there is neither; `why` then says so in a line.
std::shared_ptr<Device> find_bench_device(std::string& why);

/// Fills in what a launch costs there.
void measure_device_limits(Device& device, PrimitiveLimits& limits);

/// "opencl 0:0"
std::string device_id(const Device& device);

/// What it can do at best.
DeviceRate measure_device(Device& device);

/// Calls by the device's own clock: the sum of its kernels.
TimedBody timed_on(Device& device, std::function<void()> body);

/// An array there, of as many elements as the host's, which stays where it is.
template <class T>
AlignedBuffer<T> copy_to(Device& device, const AlignedBuffer<T>& host) {
  AlignedBuffer<T> copy(host.size(), device);
  device.to_device(copy.data(), host.data(), host.size() * static_cast<std::int64_t>(sizeof(T)));
  return copy;
}

}  // namespace lockstep::cli
