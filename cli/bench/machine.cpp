#include "cli/bench/machine.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "lockstep/core/error.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/kernels/backend.hpp"
#include "lockstep/kernels/device/primitives.hpp"
#include "lockstep/lab/measure.hpp"
#include "lockstep/lab/peak.hpp"
#include "lockstep/lab/text_table.hpp"

namespace lockstep::cli {

namespace {

constexpr double kGiga = 1e-9;

const char* name_of(Scalar scalar) { return scalar == Scalar::float32 ? "float32" : "float64"; }

std::string cache_text(const MachineDescription& machine) {
  std::vector<std::string> parts;
  for (const CacheLevel& cache : machine.caches) {
    if (cache.type == "Instruction") continue;
    const bool mega = cache.bytes >= (1 << 20);
    parts.push_back(fmt::format("L{} {} {}", cache.level, cache.bytes >> (mega ? 20 : 10), mega ? "MiB" : "KiB"));
  }
  return parts.empty() ? "unknown" : fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

MachineReport measure_machine(int threads, bool quick) {
  MachineReport report{.description = describe_machine(), .threads = threads};
  const double seconds = quick ? 0.02 : 0.15;
  const auto both = [&](std::string name, std::string unit, const auto& measure) {
    const double one = measure(1);
    report.rates.push_back(
        {std::move(name), std::move(unit), one * kGiga, (threads == 1 ? one : measure(threads)) * kGiga});
    return one;
  };
  for (const Scalar scalar : {Scalar::float32, Scalar::float64})
    for (const std::string& isa : peak_isas()) {
      double& peak = scalar == Scalar::float32 ? report.float_peak : report.double_peak;
      peak = both(fmt::format("fma {} {}", name_of(scalar), isa), "GFLOP/s",
                  [&](int count) { return measure_fma_peak(scalar, count, isa, seconds); });
    }
  both("memory, a = b + s c", "GB/s", [&](int count) { return measure_memory_bandwidth(count, seconds); });
  report.openblas = openblas_description();
  if (report.openblas.empty()) return report;
  const std::int64_t size = quick ? 512 : 1024;
  for (const Scalar scalar : {Scalar::float32, Scalar::float64})
    both(fmt::format("{} {} of OpenBLAS", scalar == Scalar::float32 ? "sgemm" : "dgemm", size), "GFLOP/s",
         [&](int count) { return measure_openblas(scalar, count, size, seconds).value_or(0); });
  return report;
}

std::string machine_text(const MachineReport& report) {
  const MachineDescription& machine = report.description;
  TextTable facts("ll");
  facts.row({"processor", one_line(machine.processor)});
  facts.row({"cores", fmt::format("{} ({}, {} used here)", machine.cores, count_of(machine.processors, "processor"),
                                  report.threads)});
  facts.row({"caches", cache_text(machine)});
  facts.row({"load", fmt::format("{:.2f} (mean of running processes over the last minute)", machine.load)});
  facts.row({"OpenBLAS", report.openblas.empty() ? "absent (libopenblas0)" : one_line(report.openblas)});
  TextTable rates("lrrl");
  rates.row({"best of repeated runs", "1 thread", count_of(report.threads, "thread"), ""});
  for (const MachineRate& rate : report.rates)
    rates.row({rate.name, fmt::format("{:.1f}", rate.one), fmt::format("{:.1f}", rate.all), rate.unit});
  std::string text = fmt::format("{}\n{}", facts.str(), rates.str());
  if (report.devices.empty()) return text;
  TextTable devices("llrrl");
  devices.row({"device", "", "float32", "float64", ""});
  for (const DeviceRate& device : report.devices)
    devices.row({device.id, one_line(device.name), fmt::format("{:.1f}", device.float_peak * kGiga),
                 device.double_peak > 0 ? fmt::format("{:.1f}", device.double_peak * kGiga) : "-", "GFLOP/s"});
  return text + "\n" + devices.str();
}

Json machine_json(const MachineReport& report) {
  const MachineDescription& machine = report.description;
  Json caches = Json::array();
  for (const CacheLevel& cache : machine.caches)
    caches.push_back(
        {{"level", cache.level}, {"type", cache.type}, {"bytes", cache.bytes}, {"shared_by", cache.shared_by}});
  Json rates = Json::array();
  for (const MachineRate& rate : report.rates)
    rates.push_back({{"name", rate.name}, {"unit", rate.unit}, {"one_thread", rate.one}, {"all_threads", rate.all}});
  Json devices = Json::array();
  for (const DeviceRate& device : report.devices)
    devices.push_back({{"id", device.id},
                       {"name", device.name},
                       {"float32_gflops_per_second", device.float_peak * kGiga},
                       {"float64_gflops_per_second", device.double_peak * kGiga}});
  return {{"processor", machine.processor},
          {"processors", machine.processors},
          {"devices", std::move(devices)},
          {"cores", machine.cores},
          {"threads", report.threads},
          {"load", machine.load},
          {"instruction_sets", machine.instruction_sets},
          {"openblas", report.openblas},
          {"caches", std::move(caches)},
          {"rates", std::move(rates)}};
}

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
    constexpr double kLaunch = 20e-6, kLongest = 0.05;  // more than the host takes for one
    device.set_timing(true);
    device.hold(std::min(kLongest, kLaunch * double(calls)));
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
  for (int i = 0; i < kLaunches; ++i)
    best = std::min(best, timed_seconds([&] { device::launch_nothing(device, anything.data()); }));
  limits.launch_seconds = best;
  limits.device_units = static_cast<int>(device.info().compute_units);
  limits.device = device.info().name;
  limits.device_is_cpu = device.info().is_cpu;
}

}  // namespace lockstep::cli
