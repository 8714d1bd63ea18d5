#include "lockstep/kernels/opencl/programs.hpp"

#include <fmt/format.h>

#include <cstring>
#include <filesystem>
#include <span>
#include <vector>

#include "lockstep/core/environment.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/file.hpp"
#include "lockstep/core/sha256.hpp"
#include "lockstep/kernels/device/text/list.hpp"
#include "lockstep/kernels/opencl/devices.hpp"

namespace lockstep::opencl {

namespace {

constexpr std::int64_t kLargestEntry = std::int64_t{64} << 20;
constexpr std::size_t kDigestText = 64;

/// The program that holds a kernel.
std::string program_of(std::string_view kernel) {
#define LOCKSTEP_KERNEL_IS(program, name) \
  if (kernel == #name) return #program;
  LOCKSTEP_DEVICE_KERNELS(LOCKSTEP_KERNEL_IS)
  LOCKSTEP_VECTOR_KERNELS(LOCKSTEP_KERNEL_IS)
#undef LOCKSTEP_KERNEL_IS
  if (kernel == "probe") return "probe";
  throw Error(ErrorCode::bug, fmt::format("no kernel is called {}", kernel));
}

std::string options_of(bool float64, bool vectors, const DeviceInfo& info) {
  const std::int64_t lanes = !vectors ? 1 : float64 ? info.lanes_float64 : info.lanes_float32;
  return fmt::format("-cl-std=CL1.2 -cl-fp32-correctly-rounded-divide-sqrt -DREAL_IS_DOUBLE={} -DLANES={}",
                     float64 ? 1 : 0, lanes);
}

std::string first_line_with(const std::string& log, std::string_view word) {
  std::size_t at = log.find(word);
  if (at == std::string::npos) at = 0;
  std::size_t begin = log.rfind('\n', at);
  begin = begin == std::string::npos ? 0 : begin + 1;
  return log.substr(begin, log.find('\n', at) - begin);
}

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

/// A damaged entry must not reach the driver, which may crash on it: the digest of the rest comes first.
void store(const std::string& file, std::span<const std::byte> binary) {
  try {
    std::filesystem::create_directories(std::filesystem::path(file).parent_path());
    std::string entry = sha256_hex(binary);
    entry.append(reinterpret_cast<const char*>(binary.data()), binary.size());
    write_file_atomically(file, entry);
  } catch (const std::exception&) {  // a full or read-only disk costs time at the next start, not this run
  }
}

std::vector<std::byte> load(const std::string& file) {
  try {
    std::vector<std::byte> entry = read_file(file, kLargestEntry);
    if (entry.size() <= kDigestText) return {};
    const auto binary = std::span(entry).subspan(kDigestText);
    if (std::memcmp(sha256_hex(binary).data(), entry.data(), kDigestText) != 0) return {};
    return {binary.begin(), binary.end()};
  } catch (const std::exception&) {
    return {};
  }
}

}  // namespace

std::string cache_folder() {
  if (const auto folder = environment_text("LOCKSTEP_CACHE_DIR")) return *folder == "off" ? "" : *folder + "/opencl";
  if (const auto folder = environment_text("XDG_CACHE_HOME")) return *folder + "/lockstep/opencl";
  if (const auto folder = environment_text("HOME")) return *folder + "/.cache/lockstep/opencl";
  return "";
}

Programs::~Programs() {
  for (const auto& of_scalar : kernels_)
    for (const auto& kernels : of_scalar)
      for (const auto& [name, kernel] : kernels) api().clReleaseKernel(kernel);
  for (const auto& [name, program] : programs_) api().clReleaseProgram(program);
}

cl_kernel Programs::kernel(std::string_view name, bool float64, bool vectors) {
  auto& kernels = kernels_[float64 ? 1 : 0][vectors ? 1 : 0];
  if (const auto found = kernels.find(name); found != kernels.end()) return found->second;
  const std::string key(name);
  cl_int status = CL_SUCCESS;
  cl_kernel made = api().clCreateKernel(program(program_of(name), float64, vectors), key.c_str(), &status);
  check(status, "kernel " + key);
  return kernels.emplace(key, made).first->second;
}

cl_program Programs::program(const std::string& name, bool float64, bool vectors) {
  const std::string options = options_of(float64, vectors, device_.info);
  const std::string key = name + " " + options;
  if (const auto found = programs_.find(key); found != programs_.end()) return found->second;
  const std::string text = program_text(name);
  const DeviceInfo& info = device_.info;
  std::string file = cache_folder();
  if (!file.empty()) {
    const std::string identity =
        fmt::format("{}\n{}\n{}\n{}\n{}\n{}", info.platform, info.name, info.vendor, info.driver, options, text);
    file += fmt::format("/{}-{}.bin", name, sha256_hex(bytes_of(identity)).substr(0, 32));
  }
  cl_program made = file.empty() ? nullptr : from_cache(file, options);
  if (made == nullptr) {
    made = from_text(name, text, options);
    std::size_t size = 0;
    const Api& cl = api();
    if (!file.empty() &&
        cl.clGetProgramInfo(made, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, nullptr) == CL_SUCCESS && size > 0) {
      std::vector<std::byte> binary(size);
      auto* data = reinterpret_cast<unsigned char*>(binary.data());
      if (cl.clGetProgramInfo(made, CL_PROGRAM_BINARIES, sizeof data, &data, nullptr) == CL_SUCCESS)
        store(file, binary);
    }
  }
  return programs_.emplace(key, made).first->second;
}

cl_program Programs::from_cache(const std::string& file, const std::string& options) const {
  const std::vector<std::byte> binary = load(file);
  if (binary.empty()) return nullptr;
  const auto* data = reinterpret_cast<const unsigned char*>(binary.data());
  const std::size_t size = binary.size();
  cl_int loaded = CL_SUCCESS, status = CL_SUCCESS;
  cl_program made = api().clCreateProgramWithBinary(context_, 1, &device_.device, &size, &data, &loaded, &status);
  if (status != CL_SUCCESS || loaded != CL_SUCCESS) return nullptr;
  if (api().clBuildProgram(made, 1, &device_.device, options.c_str(), nullptr, nullptr) == CL_SUCCESS) return made;
  api().clReleaseProgram(made);
  return nullptr;
}

cl_program Programs::from_text(const std::string& name, const std::string& text, const std::string& options) {
  if (const std::string missing = missing_tool(platform_text(device_.platform, CL_PLATFORM_VERSION)); !missing.empty())
    throw Error(ErrorCode::usage, fmt::format("backend opencl: {} compiles kernels with {}; or use the backend simd",
                                              device_.info.platform, missing));
  const char* source = text.c_str();
  cl_int status = CL_SUCCESS;
  cl_program made = api().clCreateProgramWithSource(context_, 1, &source, nullptr, &status);
  check(status, "program " + name);
  ++built_from_text_;
  if (api().clBuildProgram(made, 1, &device_.device, options.c_str(), nullptr, nullptr) == CL_SUCCESS) return made;
  std::size_t size = 0;
  api().clGetProgramBuildInfo(made, device_.device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size);
  std::string log(size, '\0');
  api().clGetProgramBuildInfo(made, device_.device, CL_PROGRAM_BUILD_LOG, size, log.data(), nullptr);
  api().clReleaseProgram(made);
  if (environment_flag("LOCKSTEP_OPENCL_LOG")) fmt::print(stderr, "{}\n", log);
  throw Error(ErrorCode::usage,
              fmt::format("backend opencl: {} ({}) does not compile the kernels of {}: {}; update its driver, choose "
                          "another device with LOCKSTEP_OPENCL_DEVICE, or use the backend simd",
                          device_.info.name, device_.info.platform, name, first_line_with(log, "error")));
}

}  // namespace lockstep::opencl
