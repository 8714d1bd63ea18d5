#include "lockstep/kernels/opencl/devices.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "lockstep/core/environment.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/kernels/opencl/drivers.hpp"
#include "lockstep/kernels/opencl/opencl.hpp"

namespace lockstep {

namespace opencl {

namespace {

std::string kind_of(cl_device_type type) {
  if ((type & CL_DEVICE_TYPE_GPU) != 0) return "gpu";
  return (type & CL_DEVICE_TYPE_CPU) != 0 ? "cpu" : "accelerator";
}

/// A processor's vector of numbers; one sample per work-item on other devices. For tests, LOCKSTEP_OPENCL_LANES=1 makes
/// a processor run what a GPU runs, and 8 or 16 make any device run what a processor does.
void choose_lanes(DeviceInfo& info, cl_device_id device) {
  const std::string forced = environment_text("LOCKSTEP_OPENCL_LANES").value_or("");
  if (forced == "1") info.is_cpu = false;
  if (forced == "8" || forced == "16") info.is_cpu = true;
  if (!info.is_cpu) return;
  const auto width = device_value<cl_uint>(device, CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT);
  info.lanes_float32 = forced == "16" || (forced != "8" && width >= 16) ? 16 : 8;
  info.lanes_float64 = 8;
}

DeviceInfo describe(cl_platform_id platform, cl_device_id device, std::size_t p, std::size_t d) {
  DeviceInfo info;
  info.backend = "opencl";
  info.id = fmt::format("{}:{}", p, d);
  info.name = device_text(device, CL_DEVICE_NAME);
  info.vendor = device_text(device, CL_DEVICE_VENDOR);
  info.driver = device_text(device, CL_DRIVER_VERSION);
  info.platform = platform_text(platform, CL_PLATFORM_NAME);
  info.kind = kind_of(device_value<cl_device_type>(device, CL_DEVICE_TYPE));
  info.memory_bytes = static_cast<std::int64_t>(device_value<cl_ulong>(device, CL_DEVICE_GLOBAL_MEM_SIZE));
  info.max_allocation_bytes = static_cast<std::int64_t>(device_value<cl_ulong>(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE));
  info.local_bytes = static_cast<std::int64_t>(device_value<cl_ulong>(device, CL_DEVICE_LOCAL_MEM_SIZE));
  info.compute_units = device_value<cl_uint>(device, CL_DEVICE_MAX_COMPUTE_UNITS);
  info.max_group = static_cast<std::int64_t>(device_value<std::size_t>(device, CL_DEVICE_MAX_WORK_GROUP_SIZE));
  info.clock_mhz = device_value<cl_uint>(device, CL_DEVICE_MAX_CLOCK_FREQUENCY);
  info.is_cpu = info.kind == "cpu";
  info.float64 = device_value<cl_device_fp_config>(device, CL_DEVICE_DOUBLE_FP_CONFIG) != 0;
  choose_lanes(info, device);
  return info;
}

}  // namespace

std::vector<Found> find_devices() {
  cl_uint count = 0;
  std::vector<Found> found;
  if (api().clGetPlatformIDs(0, nullptr, &count) != CL_SUCCESS || count == 0) return found;
  std::vector<cl_platform_id> platforms(count);
  api().clGetPlatformIDs(count, platforms.data(), nullptr);
  for (std::size_t p = 0; p < platforms.size(); ++p) {
    cl_uint devices = 0;
    if (api().clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, 0, nullptr, &devices) != CL_SUCCESS) continue;
    std::vector<cl_device_id> ids(devices);
    if (devices > 0) api().clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, devices, ids.data(), nullptr);
    for (std::size_t d = 0; d < ids.size(); ++d)
      found.push_back({platforms[p], ids[d], describe(platforms[p], ids[d], p, d)});
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Found& a, const Found& b) { return a.info.kind == "gpu" && b.info.kind != "gpu"; });
  return found;
}

Found choose_device(int local_rank) {
  const std::vector<Found> found = find_devices();
  if (found.empty())
    throw Error(ExitCode::usage, fmt::format("backend opencl: {}, or use the backend simd", why_no_device()));
  if (const auto wanted = environment_text("LOCKSTEP_OPENCL_DEVICE")) {
    std::vector<std::string> ids;
    for (const Found& one : found) {
      if (one.info.id == *wanted) return one;
      ids.push_back(one.info.id);
    }
    throw Error(ExitCode::usage, fmt::format("LOCKSTEP_OPENCL_DEVICE={}: no such device; this machine has {}", *wanted,
                                             fmt::join(ids, ", ")));
  }
  // Ranks take turns over devices of the first one's kind: a GPU is not mixed with the processor beside it.
  const auto same = std::count_if(found.begin(), found.end(),
                                  [&](const Found& one) { return one.info.kind == found.front().info.kind; });
  return found[static_cast<std::size_t>(local_rank % same)];
}

}  // namespace opencl

std::vector<DeviceInfo> list_opencl_devices() {
  std::vector<DeviceInfo> infos;
  try {
    for (const opencl::Found& one : opencl::find_devices()) infos.push_back(one.info);
  } catch (const Error&) {  // no loader: no devices
  }
  return infos;
}

}  // namespace lockstep
