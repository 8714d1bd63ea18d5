#pragma once
// What the machine and its devices can do at best: the first part of `lockstep bench`; and what the benchmarks need of
// devices.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cli/bench/limits.hpp"
#include "cli/output/json.hpp"
#include "lockstep/core/aligned.hpp"
#include "lockstep/kernels/device/device.hpp"
#include "lockstep/lab/machine.hpp"
#include "lockstep/lab/measure.hpp"

namespace lockstep::cli {

/// One rate, on one thread and on all.
struct MachineRate {
  std::string name;  // "fma float32 avx2"
  std::string unit;  // "GFLOP/s", "GB/s"
  double one = 0, all = 0;
};

/// What a device can do at best, in operations per second; 0: it has no such numbers.
struct DeviceRate {
  std::string id, name;  // "opencl 0:0"
  double float_peak = 0, double_peak = 0;
};

struct MachineReport {
  MachineDescription description;
  int threads = 1;  // "all"
  std::vector<MachineRate> rates{};
  double float_peak = 0, double_peak = 0;  // operations per second, one thread, widest instruction set
  std::string openblas{};                  // empty: absent
  std::vector<DeviceRate> devices{};       // those whose kernels are measured
};

/// A few seconds; `quick`: below one.
MachineReport measure_machine(int threads, bool quick);

std::string machine_text(const MachineReport& report);
Json machine_json(const MachineReport& report);

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
