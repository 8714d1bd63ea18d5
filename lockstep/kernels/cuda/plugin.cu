// What the plugin does with the CUDA runtime: memory, copies, launches and times of one device.

#include <cstdio>
#include <cstring>
#include <deque>
#include <new>
#include <string>
#include <unordered_map>
#include <vector>

#include "lockstep/kernels/cuda/cudnn.cuh"
#include "lockstep/kernels/cuda/kernels.cuh"
#include "lockstep/kernels/cuda/library.cuh"
#include "lockstep/kernels/cuda/plugin.hpp"
#include "lockstep/kernels/cuda/ranges.cuh"

namespace lockstep::cuda {

namespace {

thread_local char last_failure[512] = "";

CudaStatus fail(CudaStatus status, const char* what, const char* why) {
  std::snprintf(last_failure, sizeof last_failure, "%s: %s", what, why);
  return status;
}

CudaStatus check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return CudaStatus::ok;
  cudaGetLastError();  // it has been told, do not tell it again
  return fail(error == cudaErrorMemoryAllocation ? CudaStatus::out_of_memory : CudaStatus::failed, what,
              cudaGetErrorString(error));
}

#define LOCKSTEP_CUDA_TRY(call, what)                                                             \
  do {                                                                                            \
    if (const CudaStatus status = check((call), (what)); status != CudaStatus::ok) return status; \
  } while (false)

void* pointer(std::uint64_t address) { return reinterpret_cast<void*>(static_cast<std::uintptr_t>(address)); }

/// Two events around a launch that has not been read yet.
struct TimedLaunch {
  const KernelEntry* kernel;
  cudaEvent_t begin, end;
};

/// Page-locked memory: only from there does the device copy while the host goes on. Each belongs to one copy at a time.
struct Staging {
  void* memory = nullptr;
  std::uint64_t bytes = 0, ticket = 0;
  cudaEvent_t copied = nullptr;
};
constexpr std::uint64_t kStagings = 4;  // a batch and its targets, while the ones before are still on their way

}  // namespace

}  // namespace lockstep::cuda

namespace lockstep {

struct CudaDeviceHandle {
  int device = 0;
  cudaStream_t kernels = nullptr, copies = nullptr;
  cuda::Staging staging[cuda::kStagings];
  std::uint64_t tickets = 0;
  bool timing = false;
  std::vector<cudaEvent_t> spare_events;
  std::deque<cuda::TimedLaunch> timed;
  std::unordered_map<const cuda::KernelEntry*, CudaKernelTime> times;
  cuda::Library library;
  cuda::Cudnn dnn;
};

}  // namespace lockstep

namespace lockstep::cuda {

namespace {

using Handle = CudaDeviceHandle;

// A thread may have used another device since.
CudaStatus enter(const Handle* handle) { return check(cudaSetDevice(handle->device), "cudaSetDevice"); }

CudaStatus count_devices(int* devices, int* driver) {
  *devices = 0;
  *driver = 0;
  cudaDriverGetVersion(driver);
  const cudaError_t error = cudaGetDeviceCount(devices);
  if (error == cudaSuccess && *devices > 0) return CudaStatus::ok;
  cudaGetLastError();
  *devices = 0;
  if (error == cudaErrorInsufficientDriver)
    return fail(*driver == 0 ? CudaStatus::no_driver : CudaStatus::old_driver, "cudaGetDeviceCount",
                cudaGetErrorString(error));
  if (error == cudaSuccess || error == cudaErrorNoDevice)
    return fail(CudaStatus::no_device, "cudaGetDeviceCount", "no device");
  return fail(CudaStatus::failed, "cudaGetDeviceCount", cudaGetErrorString(error));
}

CudaStatus describe(int device, CudaFacts* facts) {
  cudaDeviceProp properties;
  LOCKSTEP_CUDA_TRY(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
  *facts = {};
  std::snprintf(facts->name, sizeof facts->name, "%s", properties.name);
  facts->memory_bytes = properties.totalGlobalMem;
  facts->shared_bytes = properties.sharedMemPerBlock;
  facts->major = properties.major;
  facts->minor = properties.minor;
  facts->multiprocessors = properties.multiProcessorCount;
  facts->max_threads = properties.maxThreadsPerBlock;
  // How much is free is asked of the current device only, and asking makes a context.
  std::size_t free = 0, total = 0;
  LOCKSTEP_CUDA_TRY(cudaSetDevice(device), "cudaSetDevice");
  LOCKSTEP_CUDA_TRY(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
  facts->free_bytes = free;
  return CudaStatus::ok;
}

void close_device(Handle* handle) {
  if (handle == nullptr) return;
  cudaSetDevice(handle->device);
  cudaDeviceSynchronize();
  handle->dnn.close();
  handle->library.close();
  for (Staging& staging : handle->staging) {
    if (staging.memory != nullptr) cudaFreeHost(staging.memory);
    if (staging.copied != nullptr) cudaEventDestroy(staging.copied);
  }
  for (const TimedLaunch& launch : handle->timed) {
    cudaEventDestroy(launch.begin);
    cudaEventDestroy(launch.end);
  }
  for (const cudaEvent_t event : handle->spare_events) cudaEventDestroy(event);
  if (handle->copies != nullptr) cudaStreamDestroy(handle->copies);
  if (handle->kernels != nullptr) cudaStreamDestroy(handle->kernels);
  delete handle;
}

CudaStatus prepare(Handle* handle) {
  LOCKSTEP_CUDA_TRY(cudaSetDevice(handle->device), "cudaSetDevice");
  LOCKSTEP_CUDA_TRY(cudaStreamCreateWithFlags(&handle->kernels, cudaStreamNonBlocking), "cudaStreamCreate");
  LOCKSTEP_CUDA_TRY(cudaStreamCreateWithFlags(&handle->copies, cudaStreamNonBlocking), "cudaStreamCreate");
  for (Staging& staging : handle->staging)
    LOCKSTEP_CUDA_TRY(cudaEventCreateWithFlags(&staging.copied, cudaEventDisableTiming), "cudaEventCreate");
  return CudaStatus::ok;
}

CudaStatus open_device(int device, Handle** result) {
  *result = nullptr;
  Handle* const handle = new (std::nothrow) Handle;
  if (handle == nullptr) return fail(CudaStatus::out_of_memory, "open", "no memory of the host");
  handle->device = device;
  const CudaStatus status = prepare(handle);
  if (status == CudaStatus::ok)
    *result = handle;
  else
    close_device(handle);
  return status;
}

CudaStatus allocate(Handle* handle, std::uint64_t bytes, std::uint64_t* address) {
  if (const CudaStatus status = enter(handle); status != CudaStatus::ok) return status;
  void* memory = nullptr;
  LOCKSTEP_CUDA_TRY(cudaMalloc(&memory, bytes), "cudaMalloc");
  *address = reinterpret_cast<std::uintptr_t>(memory);
  return CudaStatus::ok;
}

CudaStatus release(Handle* handle, std::uint64_t address) {
  if (const CudaStatus status = enter(handle); status != CudaStatus::ok) return status;
  LOCKSTEP_CUDA_TRY(cudaFree(pointer(address)), "cudaFree");
  return CudaStatus::ok;
}

CudaStatus take_event(Handle* handle, cudaEvent_t* event) {
  if (handle->spare_events.empty()) {
    LOCKSTEP_CUDA_TRY(cudaEventCreateWithFlags(event, cudaEventDefault), "cudaEventCreate");
    return CudaStatus::ok;
  }
  *event = handle->spare_events.back();
  handle->spare_events.pop_back();
  return CudaStatus::ok;
}

/// Adds up the times of `count` launches and gives their events back. Waits for each: copies have a stream of their
/// own.
CudaStatus read_times(Handle* handle, std::size_t count) {
  for (; count > 0; --count) {
    const TimedLaunch launch = handle->timed.front();
    LOCKSTEP_CUDA_TRY(cudaEventSynchronize(launch.end), "cudaEventSynchronize");
    handle->timed.pop_front();
    handle->spare_events.push_back(launch.begin);
    handle->spare_events.push_back(launch.end);
    float milliseconds = 0;
    LOCKSTEP_CUDA_TRY(cudaEventElapsedTime(&milliseconds, launch.begin, launch.end), "cudaEventElapsedTime");
    CudaKernelTime& time = handle->times[launch.kernel];
    time.kernel = launch.kernel->name;
    ++time.launches;
    time.nanoseconds += static_cast<std::uint64_t>(static_cast<double>(milliseconds) * 1e6);
  }
  return CudaStatus::ok;
}

/// Calls `start`, which puts work of this name into the stream; between two events where times are taken.
template <class Start>
CudaStatus start_timed(Handle* handle, const KernelEntry* kernel, cudaStream_t stream, const Start& start) {
  const Range range(kernel->name);
  if (!handle->timing) return start();
  constexpr std::size_t kPending = 4096;  // so that a long run does not hold events without end
  if (handle->timed.size() >= kPending)
    if (const CudaStatus status = read_times(handle, kPending / 2); status != CudaStatus::ok) return status;
  TimedLaunch timed{kernel, nullptr, nullptr};
  if (const CudaStatus status = take_event(handle, &timed.begin); status != CudaStatus::ok) return status;
  if (const CudaStatus status = take_event(handle, &timed.end); status != CudaStatus::ok) return status;
  LOCKSTEP_CUDA_TRY(cudaEventRecord(timed.begin, stream), "cudaEventRecord");
  if (const CudaStatus status = start(); status != CudaStatus::ok) {
    handle->spare_events.push_back(timed.begin);
    handle->spare_events.push_back(timed.end);
    return status;
  }
  LOCKSTEP_CUDA_TRY(cudaEventRecord(timed.end, stream), "cudaEventRecord");
  handle->timed.push_back(timed);
  return CudaStatus::ok;
}

CudaStatus copy_over_bus(Handle* handle, void* to, const void* from, std::uint64_t bytes, cudaMemcpyKind kind,
                         cudaStream_t stream) {
  static constexpr KernelEntry kNames[] = {{kCudaCopyToDevice, nullptr, nullptr}, {kCudaCopyToHost, nullptr, nullptr}};
  return start_timed(handle, &kNames[kind == cudaMemcpyHostToDevice ? 0 : 1], stream,
                     [&] { return check(cudaMemcpyAsync(to, from, bytes, kind, stream), "cudaMemcpyAsync"); });
}

CudaStatus to_device(Handle* handle, std::uint64_t to, const void* from, std::uint64_t bytes) {
  if (const CudaStatus status = enter(handle); status != CudaStatus::ok) return status;
  const CudaStatus status = copy_over_bus(handle, pointer(to), from, bytes, cudaMemcpyHostToDevice, handle->kernels);
  if (status != CudaStatus::ok) return status;
  LOCKSTEP_CUDA_TRY(cudaStreamSynchronize(handle->kernels), "cudaStreamSynchronize");
  return CudaStatus::ok;
}

/// Waits until the copy that read this memory last is done, and makes it large enough.
CudaStatus make_ready(Staging& staging, std::uint64_t bytes) {
  LOCKSTEP_CUDA_TRY(cudaEventSynchronize(staging.copied), "cudaEventSynchronize");
  if (staging.bytes >= bytes) return CudaStatus::ok;
  if (staging.memory != nullptr) LOCKSTEP_CUDA_TRY(cudaFreeHost(staging.memory), "cudaFreeHost");
  staging.memory = nullptr;
  staging.bytes = 0;
  LOCKSTEP_CUDA_TRY(cudaHostAlloc(&staging.memory, bytes, cudaHostAllocDefault), "cudaHostAlloc");
  staging.bytes = bytes;
  return CudaStatus::ok;
}

CudaStatus begin_to_device(Handle* handle, std::uint64_t to, const void* from, std::uint64_t bytes,
                           std::uint64_t* ticket) {
  if (const CudaStatus status = enter(handle); status != CudaStatus::ok) return status;
  Staging& staging = handle->staging[++handle->tickets % kStagings];
  if (const CudaStatus status = make_ready(staging, bytes); status != CudaStatus::ok) return status;
  std::memcpy(staging.memory, from, bytes);
  staging.ticket = handle->tickets;
  *ticket = handle->tickets;
  const CudaStatus status =
      copy_over_bus(handle, pointer(to), staging.memory, bytes, cudaMemcpyHostToDevice, handle->copies);
  if (status != CudaStatus::ok) return status;
  LOCKSTEP_CUDA_TRY(cudaEventRecord(staging.copied, handle->copies), "cudaEventRecord");
  return CudaStatus::ok;
}

/// The memory of a copy that may still be on its way; null where it arrived and its memory has another copy now.
Staging* find_copy(Handle* handle, std::uint64_t ticket) {
  Staging& staging = handle->staging[ticket % kStagings];
  return ticket != 0 && staging.ticket == ticket ? &staging : nullptr;
}

CudaStatus join(Handle* handle, std::uint64_t ticket) {
  const Staging* const staging = find_copy(handle, ticket);
  if (staging == nullptr) return CudaStatus::ok;
  LOCKSTEP_CUDA_TRY(cudaStreamWaitEvent(handle->kernels, staging->copied, 0), "cudaStreamWaitEvent");
  return CudaStatus::ok;
}

CudaStatus wait(Handle* handle, std::uint64_t ticket) {
  const Staging* const staging = find_copy(handle, ticket);
  if (staging == nullptr) return CudaStatus::ok;
  LOCKSTEP_CUDA_TRY(cudaEventSynchronize(staging->copied), "cudaEventSynchronize");
  return CudaStatus::ok;
}

CudaStatus to_host(Handle* handle, void* to, std::uint64_t from, std::uint64_t bytes) {
  if (const CudaStatus status = enter(handle); status != CudaStatus::ok) return status;
  const CudaStatus status = copy_over_bus(handle, to, pointer(from), bytes, cudaMemcpyDeviceToHost, handle->kernels);
  if (status != CudaStatus::ok) return status;
  LOCKSTEP_CUDA_TRY(cudaStreamSynchronize(handle->kernels), "cudaStreamSynchronize");
  return CudaStatus::ok;
}

CudaStatus copy(Handle* handle, std::uint64_t to, std::uint64_t from, std::uint64_t bytes) {
  if (const CudaStatus status = enter(handle); status != CudaStatus::ok) return status;
  LOCKSTEP_CUDA_TRY(cudaMemcpyAsync(pointer(to), pointer(from), bytes, cudaMemcpyDeviceToDevice, handle->kernels),
                    "cudaMemcpyAsync");
  return CudaStatus::ok;
}

CudaStatus fill(Handle* handle, std::uint64_t to, int byte, std::uint64_t bytes) {
  if (const CudaStatus status = enter(handle); status != CudaStatus::ok) return status;
  LOCKSTEP_CUDA_TRY(cudaMemsetAsync(pointer(to), byte, bytes, handle->kernels), "cudaMemsetAsync");
  return CudaStatus::ok;
}

CudaStatus launch_kernel(Handle* handle, const CudaLaunch* l) {
  if (const CudaStatus status = enter(handle); status != CudaStatus::ok) return status;
  const KernelEntry* const kernel = l->float64 ? find_double_kernel(l->kernel) : find_float_kernel(l->kernel);
  if (kernel == nullptr) return fail(CudaStatus::no_kernel, l->kernel, "the plugin has no such kernel");
  if (!kernel->takes(*l)) return fail(CudaStatus::wrong_arguments, l->kernel, "other arguments than the kernel's");
  return start_timed(handle, kernel, handle->kernels, [&]() -> CudaStatus {
    LOCKSTEP_CUDA_TRY(kernel->start(kernel->name, *l, handle->kernels), l->kernel);
    return CudaStatus::ok;
  });
}

CudaStatus synchronize(Handle* handle) {
  if (const CudaStatus status = enter(handle); status != CudaStatus::ok) return status;
  LOCKSTEP_CUDA_TRY(cudaStreamSynchronize(handle->copies), "cudaStreamSynchronize");
  LOCKSTEP_CUDA_TRY(cudaStreamSynchronize(handle->kernels), "cudaStreamSynchronize");
  return CudaStatus::ok;
}

CudaStatus time_kernels(Handle* handle, int on) {
  if (const CudaStatus status = read_times(handle, handle->timed.size()); status != CudaStatus::ok) return status;
  if (on != 0) handle->times.clear();
  handle->timing = on != 0;
  return CudaStatus::ok;
}

CudaStatus kernel_times(Handle* handle, CudaKernelTime* times, int capacity, int* count) {
  if (const CudaStatus status = read_times(handle, handle->timed.size()); status != CudaStatus::ok) return status;
  *count = 0;
  for (const auto& entry : handle->times)
    if (*count < capacity) times[(*count)++] = entry.second;
  return CudaStatus::ok;
}

CudaStatus open_library(Handle* handle) {
  if (const CudaStatus status = enter(handle); status != CudaStatus::ok) return status;
  std::string why;
  if (handle->library.open(handle->kernels, why)) return CudaStatus::ok;
  return fail(CudaStatus::no_library, "cuBLAS", why.c_str());
}

CudaStatus gemm(Handle* handle, const CudaGemm* product) {
  if (const CudaStatus status = open_library(handle); status != CudaStatus::ok) return status;
  static constexpr KernelEntry kGemm{"cublas_gemm", nullptr, nullptr};
  return start_timed(handle, &kGemm, handle->kernels, [&] {
    const int error = handle->library.multiply(*product);
    return error == 0 ? CudaStatus::ok
                      : fail(CudaStatus::failed, "cuBLAS gemm", ("status " + std::to_string(error)).c_str());
  });
}

CudaStatus open_dnn(Handle* handle) {
  if (const CudaStatus status = open_library(handle); status != CudaStatus::ok) return status;
  std::string why;
  if (handle->dnn.open(handle->kernels, why)) return CudaStatus::ok;
  return fail(CudaStatus::no_library, "cuDNN", why.c_str());
}

/// What a status of Cudnn means.
CudaStatus check_dnn(const Handle* handle, int status, const char* what) {
  if (status == kCudnnSuccess) return CudaStatus::ok;
  if (status < 0) return fail(CudaStatus::failed, what, ("status " + std::to_string(-status) + " of cuBLAS").c_str());
  const bool lacks = status >= kCudnnNotSupported && status < kCudnnNotSupported + 1000;
  return fail(lacks ? CudaStatus::not_supported : CudaStatus::failed, what, handle->dnn.describe(status));
}

template <class Call>
CudaStatus start_dnn(Handle* handle, const KernelEntry* kernel, const Call& call) {
  if (const CudaStatus status = open_dnn(handle); status != CudaStatus::ok) return status;
  return start_timed(handle, kernel, handle->kernels, [&] { return check_dnn(handle, call(), kernel->name); });
}

CudaStatus convolution_scratch(Handle* handle, const CudaConvolutionShape* shape, std::uint64_t* bytes) {
  if (const CudaStatus status = open_dnn(handle); status != CudaStatus::ok) return status;
  return check_dnn(handle, handle->dnn.scratch_of(*shape, *bytes), "cudnn_convolution");
}

CudaStatus convolve(Handle* handle, const CudaConvolution* c) {
  static constexpr KernelEntry kNames[] = {{"cudnn_convolution_forward", nullptr, nullptr},
                                           {"cudnn_convolution_backward_data", nullptr, nullptr},
                                           {"cudnn_convolution_backward_weights", nullptr, nullptr}};
  return start_dnn(handle, &kNames[c->shape.operation], [&] { return handle->dnn.convolve(*c, handle->library); });
}

CudaStatus pool(Handle* handle, const CudaPooling* p) {
  static constexpr KernelEntry kNames[] = {{"cudnn_pooling_forward", nullptr, nullptr},
                                           {"cudnn_pooling_backward", nullptr, nullptr}};
  return start_dnn(handle, &kNames[p->dx.address == 0 ? 0 : 1], [&] { return handle->dnn.pool(*p); });
}

CudaStatus normalise(Handle* handle, const CudaNormalisation* n) {
  static constexpr KernelEntry kNames[] = {{"cudnn_batch_norm_training", nullptr, nullptr},
                                           {"cudnn_batch_norm_inference", nullptr, nullptr},
                                           {"cudnn_batch_norm_backward", nullptr, nullptr}};
  return start_dnn(handle, &kNames[n->operation], [&] { return handle->dnn.normalise(*n); });
}

void explain(char* text, std::size_t capacity) { std::snprintf(text, capacity, "%s", last_failure); }

constexpr CudaPlugin kPlugin = {kCudaPluginVersion,
                                LOCKSTEP_CUDA_TOOLKIT,
                                count_devices,
                                describe,
                                open_device,
                                close_device,
                                allocate,
                                release,
                                to_device,
                                begin_to_device,
                                join,
                                wait,
                                to_host,
                                copy,
                                fill,
                                launch_kernel,
                                synchronize,
                                time_kernels,
                                kernel_times,
                                open_library,
                                gemm,
                                open_dnn,
                                convolution_scratch,
                                convolve,
                                pool,
                                normalise,
                                show_range,
                                explain};

}  // namespace

}  // namespace lockstep::cuda

extern "C" __attribute__((visibility("default"))) const lockstep::CudaPlugin* lockstep_cuda_plugin() {
  return &lockstep::cuda::kPlugin;
}
