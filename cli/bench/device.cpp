#include "cli/bench/device.hpp"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "lockstep/core/error.hpp"
#include "lockstep/kernels/backend.hpp"
#include "lockstep/kernels/device/device.hpp"
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

std::string device_id(const Device& device) { return device.info().backend + " " + device.info().id; }

DeviceRate measure_device(Device& device) {
  const DeviceInfo& info = device.info();
  return {.id = device_id(device),
          .name = info.name,
          .float_peak = device::measure_fma_peak<float>(device),
          .double_peak = info.float64 ? device::measure_fma_peak<double>(device) : 0};
}

TimedBody timed_on(Device& device, std::function<void()> body) {
  return [&device, body = std::move(body)](std::int64_t calls) {
    device.set_timing(true);
    for (std::int64_t i = 0; i < calls; ++i) body();
    double seconds = 0;
    for (const auto& [name, time] : device.kernel_times()) seconds += time.seconds;
    device.set_timing(false);
    return seconds / double(calls);
  };
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
