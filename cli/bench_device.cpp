#include "cli/bench_device.hpp"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "lockstep/core/error.hpp"
#include "lockstep/kernels/device/devices.hpp"
#include "lockstep/kernels/device/primitives.hpp"

namespace lockstep::cli {

std::shared_ptr<Device> find_bench_device(std::string& why) {
  for (const Backend backend : {Backend::cuda, Backend::opencl}) try {
      return open_device(backend);
    } catch (const Error& error) {
      why += fmt::format("{}{}", why.empty() ? "device: " : "; ", error.what());
    }
  return nullptr;
}

void measure_device_limits(Device& device, PrimitiveLimits& limits) {
  constexpr int kLaunches = 50;
  AlignedBuffer<float> anything(1, device);
  device::launch_nothing(device, anything.data());  // compiles it
  double best = 1e9;
  for (int i = 0; i < kLaunches; ++i) {
    const auto start = std::chrono::steady_clock::now();
    device::launch_nothing(device, anything.data());
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  limits.launch_seconds = best;
  limits.device_units = static_cast<int>(device.info().compute_units);
  limits.device = device.info().name;
  limits.device_is_cpu = device.info().is_cpu;
}

}  // namespace lockstep::cli
