#include "lockstep/kernels/cuda/cuda.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include <fmt/format.h>

#include "lockstep/core/environment.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/plugin.hpp"
#include "lockstep/kernels/cuda/plugin.hpp"

namespace lockstep {

namespace {

/// Where the plugin is and whether it can be used.
struct OpenedCudaPlugin {
  const CudaPlugin* functions = nullptr;
  std::string file;
  std::string missing;  // one line where functions is null
};

constexpr const char* kFile = "liblockstep_cuda.so";
constexpr const char* kNoDriver =
    "cuda: no GPU found: no NVIDIA driver on this machine (libcuda.so.1); install the driver of your GPU, or use "
    "another backend";

OpenedCudaPlugin open_once() {
  OpenedCudaPlugin result;
  result.file = environment_text("LOCKSTEP_CUDA_PLUGIN").value_or(find_plugin(kFile).string());
  if (result.file.empty()) {
    // Without a driver the plugin could not run either.
    result.missing =
        open_library("libcuda.so.1").handle == nullptr
            ? kNoDriver
            : fmt::format(
                  "cuda: {} is not beside the program: this build has no CUDA part; install the CUDA toolkit "
                  "(nvcc) and build again, or use another backend",
                  kFile);
    return result;
  }
  const SharedLibrary library = open_library(result.file);
  if (library.handle == nullptr) {
    result.missing = fmt::format("cuda: the plugin does not load: {}; build or install it again", library.error);
    return result;
  }
  const auto get = reinterpret_cast<const CudaPlugin* (*)()>(library.find(kCudaPluginSymbol));
  if (get == nullptr || get()->version != kCudaPluginVersion) {
    result.missing =
        fmt::format("cuda: {} was made for another version of Lockstep; build or install it again", result.file);
    return result;
  }
  result.functions = get();
  return result;
}

/// Opened once: LOCKSTEP_CUDA_PLUGIN, or liblockstep_cuda.so beside the program or in ../lib/lockstep.
const OpenedCudaPlugin& open_cuda_plugin() {
  static const OpenedCudaPlugin plugin = open_once();
  return plugin;
}

/// What the last failure was, in words of CUDA.
std::string explain_cuda(const CudaPlugin& plugin) {
  char text[512] = {};
  plugin.explain(text, sizeof text);
  return text;
}

/// One line for what count() said, empty where there are devices: which part is missing and what to do.
std::string explain_cuda_count(CudaStatus status, int driver, const CudaPlugin& plugin) {
  switch (status) {
    case CudaStatus::ok:
      return {};
    case CudaStatus::no_driver:
      return kNoDriver;
    case CudaStatus::old_driver:
      return fmt::format(
          "cuda: the NVIDIA driver knows CUDA {}.{} only, the plugin is built with {}; update the driver, or build "
          "with an older toolkit",
          driver / 1000, driver % 1000 / 10, plugin.toolkit);
    case CudaStatus::no_device:
      return "cuda: the NVIDIA driver finds no GPU; look at nvidia-smi and CUDA_VISIBLE_DEVICES, or use another "
             "backend";
    default:
      return fmt::format("cuda: {}; look at nvidia-smi, or use another backend", explain_cuda(plugin));
  }
}

DeviceInfo describe(const CudaPlugin& plugin, int number, int driver) {
  CudaFacts facts{};
  if (plugin.describe(number, &facts) != CudaStatus::ok)
    throw Error(ErrorCode::usage, fmt::format("cuda: device {}: {}; look at nvidia-smi", number, explain_cuda(plugin)));
  DeviceInfo info;
  info.backend = "cuda";
  info.id = std::to_string(number);
  info.name = facts.name;
  info.vendor = "NVIDIA";
  info.driver = fmt::format("CUDA {}.{}", driver / 1000, driver % 1000 / 10);
  info.platform = fmt::format("{}, sm_{}{}", plugin.toolkit, facts.major, facts.minor);
  info.kind = "gpu";
  info.memory_bytes = static_cast<std::int64_t>(facts.memory_bytes);
  info.max_allocation_bytes = info.memory_bytes;
  info.local_bytes = static_cast<std::int64_t>(facts.shared_bytes);
  info.compute_units = facts.multiprocessors;
  info.max_group = facts.max_threads;
  return info;
}

CudaArgument convert(const KernelArgument& argument) {
  CudaArgument result{};
  result.kind = static_cast<CudaKind>(argument.kind());
  std::memcpy(&result.address, argument.value(),
              argument.kind() == KernelArgument::Kind::address ? 8 : argument.bytes());
  return result;
}
static_assert(static_cast<int>(CudaKind::address) == static_cast<int>(KernelArgument::Kind::address) &&
              static_cast<int>(CudaKind::int32) == static_cast<int>(KernelArgument::Kind::int32) &&
              static_cast<int>(CudaKind::int64) == static_cast<int>(KernelArgument::Kind::int64) &&
              static_cast<int>(CudaKind::uint32) == static_cast<int>(KernelArgument::Kind::uint32) &&
              static_cast<int>(CudaKind::uint64) == static_cast<int>(KernelArgument::Kind::uint64) &&
              static_cast<int>(CudaKind::float32) == static_cast<int>(KernelArgument::Kind::float32) &&
              static_cast<int>(CudaKind::float64) == static_cast<int>(KernelArgument::Kind::float64));

std::uint64_t address_of(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

/// What a rank may plan on, where `sharers` ranks use the device: nine tenths of the memory, or what is free without
/// what the driver takes for each of them: the stacks of threads, and a thirty-second part for the context.
std::int64_t available_of(const CudaMemory& memory, int sharers) {
  const auto total = static_cast<std::int64_t>(memory.total_bytes), free = static_cast<std::int64_t>(memory.free_bytes);
  const std::int64_t reserve = sharers * (static_cast<std::int64_t>(memory.stack_bytes) + total / 32);
  return std::max<std::int64_t>(1, std::min(total / 10 * 9, free - reserve) / sharers);
}

/// Page-locked memory of the host.
class StagingMemory final : public Memory {
 public:
  explicit StagingMemory(const CudaPlugin& plugin) : plugin_(plugin) {}
  void open(CudaDeviceHandle* handle) { handle_ = handle; }

  std::byte* allocate(std::int64_t bytes) override {
    void* address = nullptr;
    if (plugin_.allocate_host(handle_, static_cast<std::uint64_t>(bytes), &address) != CudaStatus::ok)
      throw Error(ErrorCode::resources,
                  fmt::format("cuda: no {:.1f} MiB of page-locked memory for copies ({}); use a smaller network",
                              double(bytes) / (1 << 20), explain_cuda(plugin_)));
    std::memset(address, 0, static_cast<std::size_t>(bytes));
    return static_cast<std::byte*>(address);
  }
  void release(std::byte* address) noexcept override { plugin_.release_host(handle_, address); }
  void copy_within(std::byte* to, const std::byte* from, std::int64_t bytes) override {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
  }

 private:
  const CudaPlugin& plugin_;
  CudaDeviceHandle* handle_ = nullptr;
};

class CudaDevice final : public Device {
 public:
  CudaDevice(const CudaPlugin& plugin, int number, int driver, int sharers)
      : plugin_(plugin), info_(describe(plugin, number, driver)), staging_(plugin) {
    const CudaStatus status = plugin_.open(number, &handle_);
    if (status == CudaStatus::no_image)
      throw Error(ErrorCode::usage,
                  fmt::format("cuda: {} runs none of the kernels of this plugin ({}): {}; it needs a GPU of sm_75 or "
                              "newer and a driver that knows it; build with LOCKSTEP_CUDA_ARCHITECTURES for this card, "
                              "where nvcc still knows it, or use another backend",
                              info_.name, info_.platform, explain_cuda(plugin_)));
    check(status, "open");
    staging_.open(handle_);
    CudaMemory memory{};
    check(plugin_.memory(handle_, &memory), "memory");
    info_.available_bytes = available_of(memory, sharers);
    if (!environment_flag("LOCKSTEP_CUDA_GRAPHS", true)) check(plugin_.use_graphs(handle_, 0), "graphs");
  }
  ~CudaDevice() override {
    forget_constants();
    plugin_.close(handle_);
  }

  const DeviceInfo& info() const override { return info_; }

  std::byte* allocate(std::int64_t bytes) override {
    if (bytes == 0) bytes = 1;
    std::uint64_t address = 0;
    const CudaStatus status = plugin_.allocate(handle_, static_cast<std::uint64_t>(bytes), &address);
    if (status == CudaStatus::out_of_memory)
      throw Error(ErrorCode::resources,
                  fmt::format("cuda: {} has no {:.1f} MiB left of its {:.0f}; use a smaller batch or network",
                              info_.name, double(bytes) / (1 << 20), double(info_.memory_bytes) / (1 << 20)));
    check(status, "allocate");
    check(plugin_.fill(handle_, address, 0, static_cast<std::uint64_t>(bytes)), "fill");
    return reinterpret_cast<std::byte*>(address);  // NOLINT(performance-no-int-to-ptr): an address of the device
  }
  void release(std::byte* address) noexcept override { plugin_.release(handle_, address_of(address)); }
  void copy_within(std::byte* to, const std::byte* from, std::int64_t bytes) override {
    if (bytes == 0) return;
    check(plugin_.copy(handle_, address_of(to), address_of(from), static_cast<std::uint64_t>(bytes)), "copy");
  }

  void to_device(void* to, const void* from, std::int64_t bytes) override {
    if (bytes == 0) return;
    check(plugin_.to_device(handle_, address_of(to), from, static_cast<std::uint64_t>(bytes)), "copy to the device");
    count_to_device(bytes);
  }
  Ticket begin_to_device(void* to, const void* from, std::int64_t bytes) override {
    if (bytes == 0) return 0;
    Ticket ticket = 0;
    check(plugin_.begin_to_device(handle_, address_of(to), from, static_cast<std::uint64_t>(bytes), &ticket),
          "copy to the device");
    count_to_device(bytes);
    return ticket;
  }
  void join(Ticket ticket) override { check(plugin_.join(handle_, ticket), "wait for a copy"); }
  void wait(Ticket ticket) override { check(plugin_.wait(handle_, ticket), "wait for a copy"); }
  void to_host(void* to, const void* from, std::int64_t bytes) override {
    if (bytes == 0) return;
    check(plugin_.to_host(handle_, to, address_of(from), static_cast<std::uint64_t>(bytes)), "copy to the host");
    ++traffic_.copies_to_host;
    traffic_.bytes_to_host += bytes;
  }
  void zero(void* address, std::int64_t bytes) override {
    if (bytes == 0) return;
    check(plugin_.fill(handle_, address_of(address), 0, static_cast<std::uint64_t>(bytes)), "fill");
  }

  Memory& staging() override { return staging_; }

  void launch(const Launch& launch) override {
    name_.assign(launch.kernel);
    arguments_.clear();
    for (const KernelArgument& argument : launch.arguments) arguments_.push_back(convert(argument));
    CudaLaunch request{};
    request.kernel = name_.c_str();
    request.float64 = launch.float64;
    for (std::size_t i = 0; i < 3; ++i) {
      if (launch.groups[i] > (i == 0 ? 0x7fffffff : 65535))
        throw Error(
            ErrorCode::resources,
            fmt::format("cuda: {} would need {} groups along one axis, more than CUDA has; use smaller layers or "
                        "batches, or the backend simd",
                        launch.kernel, launch.groups[i]));
      request.grid[i] = static_cast<std::uint32_t>(launch.groups[i]);
      request.block[i] = static_cast<std::uint32_t>(launch.group_size[i]);
    }
    if (launch.group_size[0] * launch.group_size[1] * launch.group_size[2] > info_.max_group)
      throw Error(ErrorCode::bug, fmt::format("cuda: {}: invalid configuration: a group of {} work-items is too large",
                                              launch.kernel, launch.group_size[0]));
    request.arguments = arguments_.data();
    request.count = static_cast<std::int32_t>(arguments_.size());
    check(plugin_.launch(handle_, &request), launch.kernel);
    ++traffic_.launches;
  }
  void flush() override { check(plugin_.flush(handle_), "start"); }
  void synchronize() override { check(plugin_.synchronize(handle_), "synchronize"); }
  void hold(double seconds) override {
    check(plugin_.hold(handle_, static_cast<std::uint64_t>(seconds * 1e9)), "hold");
  }

  void set_timing(bool on) override { check(plugin_.time_kernels(handle_, on ? 1 : 0), "time kernels"); }
  std::map<std::string, KernelTime> kernel_times() override {
    std::map<std::string, KernelTime> times = all_times();
    times.erase(kCudaCopyToDevice);
    times.erase(kCudaCopyToHost);
    return times;
  }
  CopyTimes copy_times() override {
    std::map<std::string, KernelTime> times = all_times();
    return {times[kCudaCopyToDevice], times[kCudaCopyToHost]};
  }

  void open_libraries() {
    check_library(plugin_.open_dnn(handle_), "cuDNN");
    info_.library_bytes = static_cast<std::int64_t>(cudnn_workspace(static_cast<std::uint64_t>(info_.memory_bytes)));
  }
  void multiply(const CudaGemm& product) { check_library(plugin_.gemm(handle_, &product), "cuBLAS"); }
  bool convolve(KernelContext& context, CudaConvolution& convolution) {
    std::uint64_t bytes = 0;
    if (!supported(plugin_.convolution_scratch(handle_, &convolution.shape, &bytes))) return false;
    convolution.scratch = address_of(context.scratch<std::byte>(static_cast<std::int64_t>(bytes)));
    return supported(plugin_.convolve(handle_, &convolution));
  }
  bool pool(const CudaPooling& pooling) { return supported(plugin_.pool(handle_, &pooling)); }
  bool normalise(const CudaNormalisation& n) { return supported(plugin_.normalise(handle_, &n)); }

 private:
  std::map<std::string, KernelTime> all_times() {
    std::vector<CudaKernelTime> times(512);
    int count = 0;
    check(plugin_.kernel_times(handle_, times.data(), static_cast<int>(times.size()), &count), "times of kernels");
    std::map<std::string, KernelTime> result;
    for (int i = 0; i < count; ++i) {
      const CudaKernelTime& time = times[static_cast<std::size_t>(i)];
      KernelTime& sum = result[time.kernel];
      sum.launches += static_cast<std::int64_t>(time.launches);
      sum.seconds += static_cast<double>(time.nanoseconds) * 1e-9;
    }
    return result;
  }
  void count_to_device(std::int64_t bytes) {
    ++traffic_.copies_to_device;
    traffic_.bytes_to_device += bytes;
  }
  bool supported(CudaStatus status) const {
    if (status == CudaStatus::not_supported) return false;
    check_library(status, "cuDNN");
    return true;
  }
  void check_library(CudaStatus status, std::string_view what) const {
    if (status == CudaStatus::no_library)
      throw Error(
          ErrorCode::usage,
          fmt::format("cuda-library: {}; install cuBLAS and cuDNN 9 for your CUDA toolkit, or set LOCKSTEP_CUBLAS "
                      "and LOCKSTEP_CUDNN to their files, or use the backend cuda",
                      explain_cuda(plugin_)));
    check(status, what);
  }
  void check(CudaStatus status, std::string_view what) const {
    if (status == CudaStatus::ok) return;
    if (status == CudaStatus::lost)
      throw Error(ErrorCode::resources,
                  fmt::format("cuda: {}: the device {} is lost ({}); go on from the last checkpoint, there or with "
                              "another backend: the bits are the same",
                              what, info_.name, explain_cuda(plugin_)));
    // A kernel that fails on the device (a wrong address) makes every later call fail: there is nothing to mend here.
    throw Error(status == CudaStatus::out_of_memory ? ErrorCode::resources : ErrorCode::bug,
                fmt::format("cuda: {}: {} on {}", what, explain_cuda(plugin_), info_.name));
  }

  const CudaPlugin& plugin_;
  DeviceInfo info_;
  StagingMemory staging_;
  CudaDeviceHandle* handle_ = nullptr;
  std::string name_;
  std::vector<CudaArgument> arguments_;  // kept: a launch allocates nothing
};

}  // namespace

CudaPresence find_cuda() {
  CudaPresence result;
  const OpenedCudaPlugin& plugin = open_cuda_plugin();
  if (plugin.functions == nullptr) {
    result.missing = plugin.missing;
    return result;
  }
  result.plugin = plugin.file;
  result.toolkit = plugin.functions->toolkit;
  int devices = 0, driver = 0;
  const CudaStatus status = plugin.functions->count(&devices, &driver);
  result.missing = explain_cuda_count(status, driver, *plugin.functions);
  for (int i = 0; result.missing.empty() && i < devices; ++i)
    result.devices.push_back(describe(*plugin.functions, i, driver));
  return result;
}

std::vector<DeviceInfo> list_cuda_devices() { return find_cuda().devices; }

void choose_cuda_device(int local_rank) noexcept try {
  const OpenedCudaPlugin& plugin = open_cuda_plugin();
  int devices = 0, driver = 0;
  if (plugin.functions != nullptr && plugin.functions->count(&devices, &driver) == CudaStatus::ok && devices > 0)
    plugin.functions->choose(local_rank % devices);
} catch (...) {  // open_cuda_device will say it
}

std::shared_ptr<Device> open_cuda_device(int local_rank, int local_size, bool needs_libraries) {
  const OpenedCudaPlugin& plugin = open_cuda_plugin();
  if (plugin.functions == nullptr) throw Error(ErrorCode::usage, plugin.missing);
  int devices = 0, driver = 0;
  const CudaStatus status = plugin.functions->count(&devices, &driver);
  if (const std::string missing = explain_cuda_count(status, driver, *plugin.functions); !missing.empty())
    throw Error(ErrorCode::usage, missing);
  const int number = local_rank % devices;
  const int sharers =
      std::max(1, (local_size - number + devices - 1) / devices);  // ranks number, number + devices, ...
  auto device = std::make_shared<CudaDevice>(*plugin.functions, number, driver, sharers);
  if (needs_libraries) device->open_libraries();
  return device;
}

namespace {

CudaDevice& cuda_device(Device& device) {
  auto* const cuda = dynamic_cast<CudaDevice*>(&device);
  if (cuda == nullptr) throw Error(ErrorCode::bug, "a library of CUDA was given another device");
  return *cuda;
}

}  // namespace

void cublas_gemm(Device& device, const CudaGemm& product) { cuda_device(device).multiply(product); }

bool cudnn_convolve(KernelContext& context, CudaConvolution convolution) {
  return cuda_device(context.device()).convolve(context, convolution);
}

bool cudnn_pool(Device& device, const CudaPooling& pooling) { return cuda_device(device).pool(pooling); }

bool cudnn_normalise(Device& device, const CudaNormalisation& normalisation) {
  return cuda_device(device).normalise(normalisation);
}

}  // namespace lockstep
