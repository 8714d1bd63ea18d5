// What the plugin does with the CUDA runtime: memory, copies, launches and times of one device.

#include <cstring>
#include <new>

#include "lockstep/kernels/cuda/plugin_handle.cuh"
#include "lockstep/kernels/cuda/plugin_libraries.cuh"

namespace lockstep::cuda {

namespace {

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

CudaStatus choose(int device) {
  LOCKSTEP_CUDA_TRY(cudaSetDevice(device), "cudaSetDevice");
  LOCKSTEP_CUDA_TRY(cudaFree(nullptr), "cudaFree");  // makes the context
  return CudaStatus::ok;
}

void close_device(Handle* handle) {
  if (handle == nullptr) return;
  cudaSetDevice(handle->device);
  cudaDeviceSynchronize();
  handle->queue.close();
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
  for (cudaEvent_t event : handle->spare_events) cudaEventDestroy(event);
  if (handle->copies != nullptr) cudaStreamDestroy(handle->copies);
  if (handle->kernels != nullptr) cudaStreamDestroy(handle->kernels);
  delete handle;
}

/// Finds a device for which there are no kernels before anything is allocated on it, and the largest stack of a thread:
/// the driver takes it for all threads that fit on the device, whoever runs.
CudaStatus examine_kernels(Handle* handle) {
  std::size_t largest = 0;
  const auto visit = [](const KernelEntry& kernel, void* data) {
    cudaFuncAttributes attributes;
    const cudaError_t error = kernel.examine(&attributes);
    std::size_t& most = *static_cast<std::size_t*>(data);
    if (error == cudaSuccess && attributes.localSizeBytes > most) most = attributes.localSizeBytes;
    return error;
  };
  LOCKSTEP_CUDA_TRY(for_each_float_kernel(visit, &largest), "cudaFuncGetAttributes");
  LOCKSTEP_CUDA_TRY(for_each_double_kernel(visit, &largest), "cudaFuncGetAttributes");
  cudaDeviceProp properties;
  LOCKSTEP_CUDA_TRY(cudaGetDeviceProperties(&properties, handle->device), "cudaGetDeviceProperties");
  handle->memory_bytes = properties.totalGlobalMem;
  handle->stack_bytes = std::uint64_t{largest} * static_cast<std::uint64_t>(properties.multiProcessorCount) *
                        static_cast<std::uint64_t>(properties.maxThreadsPerMultiProcessor);
  LOCKSTEP_CUDA_TRY(cudaDeviceGetAttribute(&handle->clock_khz, cudaDevAttrClockRate, handle->device),
                    "cudaDeviceGetAttribute");
  return CudaStatus::ok;
}

CudaStatus prepare(Handle* handle) {
  LOCKSTEP_CUDA_TRY(cudaSetDevice(handle->device), "cudaSetDevice");
  if (const CudaStatus status = examine_kernels(handle); status != CudaStatus::ok) return status;
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

CudaStatus memory_of(Handle* handle, CudaMemory* memory) {
  if (const CudaStatus status = enter(handle); status != CudaStatus::ok) return status;
  std::size_t free = 0, total = 0;
  LOCKSTEP_CUDA_TRY(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
  *memory = {total, free, handle->stack_bytes};
  return CudaStatus::ok;
}

CudaStatus allocate(Handle* handle, std::uint64_t bytes, std::uint64_t* address) {
  if (const CudaStatus status = enter(handle); status != CudaStatus::ok) return status;
  void* memory = nullptr;
  LOCKSTEP_CUDA_TRY(cudaMalloc(&memory, bytes), "cudaMalloc");
  *address = reinterpret_cast<std::uintptr_t>(memory);
  return CudaStatus::ok;
}

CudaStatus release(Handle* handle, std::uint64_t address) {
  if (const CudaStatus status = flush(handle); status != CudaStatus::ok) return status;
  LOCKSTEP_CUDA_TRY(cudaFree(pointer(address)), "cudaFree");
  return CudaStatus::ok;
}

CudaStatus allocate_host(Handle* handle, std::uint64_t bytes, void** address) {
  if (const CudaStatus status = enter(handle); status != CudaStatus::ok) return status;
  LOCKSTEP_CUDA_TRY(cudaHostAlloc(address, bytes, cudaHostAllocDefault), "cudaHostAlloc");
  return CudaStatus::ok;
}

CudaStatus release_host(Handle* handle, void* address) {
  if (const CudaStatus status = flush(handle); status != CudaStatus::ok) return status;
  LOCKSTEP_CUDA_TRY(cudaFreeHost(address), "cudaFreeHost");
  return CudaStatus::ok;
}

CudaStatus copy_over_bus(Handle* handle, void* to, const void* from, std::uint64_t bytes, cudaMemcpyKind kind,
                         cudaStream_t stream) {
  static constexpr KernelEntry kNames[] = {{kCudaCopyToDevice}, {kCudaCopyToHost}};
  return start_timed(handle, &kNames[kind == cudaMemcpyHostToDevice ? 0 : 1], stream,
                     [&] { return check(cudaMemcpyAsync(to, from, bytes, kind, stream), "cudaMemcpyAsync"); });
}

CudaStatus to_device(Handle* handle, std::uint64_t to, const void* from, std::uint64_t bytes) {
  if (const CudaStatus status = flush(handle); status != CudaStatus::ok) return status;
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
  if (const CudaStatus status = flush(handle); status != CudaStatus::ok) return status;
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
  if (const CudaStatus status = flush(handle); status != CudaStatus::ok) return status;
  const CudaStatus status = copy_over_bus(handle, to, pointer(from), bytes, cudaMemcpyDeviceToHost, handle->kernels);
  if (status != CudaStatus::ok) return status;
  LOCKSTEP_CUDA_TRY(cudaStreamSynchronize(handle->kernels), "cudaStreamSynchronize");
  return CudaStatus::ok;
}

CudaStatus copy(Handle* handle, std::uint64_t to, std::uint64_t from, std::uint64_t bytes) {
  if (const CudaStatus status = flush(handle); status != CudaStatus::ok) return status;
  LOCKSTEP_CUDA_TRY(cudaMemcpyAsync(pointer(to), pointer(from), bytes, cudaMemcpyDeviceToDevice, handle->kernels),
                    "cudaMemcpyAsync");
  return CudaStatus::ok;
}

CudaStatus fill(Handle* handle, std::uint64_t to, int byte, std::uint64_t bytes) {
  if (const CudaStatus status = flush(handle); status != CudaStatus::ok) return status;
  LOCKSTEP_CUDA_TRY(cudaMemsetAsync(pointer(to), byte, bytes, handle->kernels), "cudaMemsetAsync");
  return CudaStatus::ok;
}

CudaStatus launch_kernel(Handle* handle, const CudaLaunch* l) {
  if (const CudaStatus status = enter(handle); status != CudaStatus::ok) return status;
  const KernelEntry* const kernel = l->float64 ? find_double_kernel(l->kernel) : find_float_kernel(l->kernel);
  if (kernel == nullptr) return fail(CudaStatus::no_kernel, l->kernel, "the plugin has no such kernel");
  if (!kernel->takes(*l)) return fail(CudaStatus::wrong_arguments, l->kernel, "other arguments than the kernel's");
  if (handle->queue.waits() && !handle->timing) {
    handle->queue.add(kernel, *l);
    return handle->queue.is_full() ? flush(handle) : CudaStatus::ok;
  }
  return start_timed(handle, kernel, handle->kernels, [&]() -> CudaStatus {
    LOCKSTEP_CUDA_TRY(kernel->start(kernel->name, *l, handle->kernels), l->kernel);
    return CudaStatus::ok;
  });
}

CudaStatus use_graphs(Handle* handle, int on) {
  if (const CudaStatus status = flush(handle); status != CudaStatus::ok) return status;
  handle->queue.use_graphs(on != 0);
  return CudaStatus::ok;
}

CudaStatus synchronize(Handle* handle) {
  if (const CudaStatus status = flush(handle); status != CudaStatus::ok) return status;
  LOCKSTEP_CUDA_TRY(cudaStreamSynchronize(handle->copies), "cudaStreamSynchronize");
  LOCKSTEP_CUDA_TRY(cudaStreamSynchronize(handle->kernels), "cudaStreamSynchronize");
  return CudaStatus::ok;
}

__global__ void spin(long long cycles) {
  const long long begin = clock64();
  while (clock64() - begin < cycles) {
  }
}

CudaStatus hold(Handle* handle, std::uint64_t nanoseconds) {
  if (const CudaStatus status = flush(handle); status != CudaStatus::ok) return status;
  const auto cycles = static_cast<long long>(nanoseconds * static_cast<std::uint64_t>(handle->clock_khz) / 1000000);
  LOCKSTEP_CUDA_TRY(launch(NamedKernel<long long>{"spin", spin}, dim3(1), dim3(1), 0, handle->kernels, cycles), "spin");
  return CudaStatus::ok;
}

CudaStatus time_kernels(Handle* handle, int on) {
  if (const CudaStatus status = flush(handle); status != CudaStatus::ok) return status;
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

void explain(char* text, std::size_t capacity) { std::snprintf(text, capacity, "%s", last_failure); }

constexpr CudaPlugin kPlugin = {kCudaPluginVersion,
                                LOCKSTEP_CUDA_TOOLKIT,
                                count_devices,
                                describe,
                                choose,
                                open_device,
                                close_device,
                                memory_of,
                                allocate,
                                release,
                                allocate_host,
                                release_host,
                                to_device,
                                begin_to_device,
                                join,
                                wait,
                                to_host,
                                copy,
                                fill,
                                launch_kernel,
                                flush,
                                use_graphs,
                                synchronize,
                                hold,
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
