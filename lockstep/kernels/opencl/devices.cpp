#include "lockstep/kernels/opencl/devices.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lockstep/core/environment.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/plugin.hpp"
#include "lockstep/kernels/opencl/api.hpp"
#include "lockstep/kernels/opencl/opencl.hpp"

namespace lockstep {

namespace opencl {

namespace fs = std::filesystem;

namespace {

constexpr const char* kVendors = "/etc/OpenCL/vendors";

/// The files of the folder that the loader reads, each of which names a driver in its first line.
std::vector<fs::path> driver_files(const fs::path& place) {
  std::vector<fs::path> files;
  std::error_code error;
  if (fs::is_regular_file(place, error)) return {place};
  for (fs::directory_iterator it(place, error), end; !error && it != end; it.increment(error))
    if (it->path().extension() == ".icd") files.push_back(it->path());
  std::sort(files.begin(), files.end());
  return files;
}

/// "the driver libpocl.so.2 of /etc/OpenCL/vendors/pocl.icd does not load: ..."; empty: it does.
std::string complaint(const fs::path& file) {
  std::ifstream in(file);
  std::string name;
  if (!(in >> name)) return fmt::format("{} names no driver", file.string());
  const SharedLibrary driver = open_library(name);
  if (driver.handle != nullptr) return "";
  return fmt::format("the driver {} of {} does not load: {}", name, file.string(), driver.error);
}

/// Platforms that are there, and what they answer when asked for devices.
std::string silent_platforms() {
  cl_uint count = 0;
  if (api().clGetPlatformIDs(0, nullptr, &count) != CL_SUCCESS || count == 0) return "";
  std::vector<cl_platform_id> platforms(count);
  api().clGetPlatformIDs(count, platforms.data(), nullptr);
  std::string text;
  for (cl_platform_id platform : platforms) {
    cl_uint devices = 0;
    const cl_int status = api().clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &devices);
    text += fmt::format("{}{} finds no device (status {})", text.empty() ? "" : "; ",
                        platform_text(platform, CL_PLATFORM_NAME), status);
  }
  return text;
}

/// Why there is no device although the loader is there, and what to do. The loader leaves a driver out without a word
/// when it cannot open it (a library that the driver needs is missing, a limit of memory): this opens each of them
/// again and says why it does not load.
std::string why_no_device() {
  const std::string place = environment_text("OCL_ICD_VENDORS").value_or(kVendors);
  const std::vector<fs::path> files = driver_files(place);
  if (files.empty())
    return fmt::format(
        "no OpenCL driver on this machine ({} names none): install your GPU's, or pocl-opencl-icd for "
        "the processor",
        place);
  for (const fs::path& file : files)
    if (const std::string text = complaint(file); !text.empty())
      return fmt::format("{}: install what is missing, or raise the limit of memory (ulimit -v)", text);
  if (const std::string text = silent_platforms(); !text.empty())
    return fmt::format(
        "{}: look at the driver, at the rights on its device files and at the limit of memory "
        "(ulimit -v)",
        text);
  return fmt::format("the drivers of {} load, but do not start: look at them, and at the limit of memory (ulimit -v)",
                     place);
}

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
    throw Error(ErrorCode::usage, fmt::format("backend opencl: {}, or use the backend simd", why_no_device()));
  if (const auto wanted = environment_text("LOCKSTEP_OPENCL_DEVICE")) {
    std::vector<std::string> ids;
    for (const Found& one : found) {
      if (one.info.id == *wanted) return one;
      ids.push_back(one.info.id);
    }
    throw Error(ErrorCode::usage, fmt::format("LOCKSTEP_OPENCL_DEVICE={}: no such device; this machine has {}", *wanted,
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
