#include "lockstep/kernels/opencl/drivers.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <vector>

#include <fmt/format.h>

#include "lockstep/core/environment.hpp"
#include "lockstep/core/plugin.hpp"
#include "lockstep/kernels/opencl/api.hpp"

namespace lockstep::opencl {

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

}  // namespace

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

}  // namespace lockstep::opencl
