// The calls of the CUDA runtime that are neither streams nor events.

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "counters.hpp"
#include "cuda_runtime.h"
#include "grid.hpp"
#include "memory.hpp"
#include "options.hpp"
#include "ptx.hpp"
#include "report.hpp"
#include "streams.hpp"

namespace cuda_emulator {

namespace {

thread_local cudaError_t last_error = cudaSuccess;
std::uint64_t launched = 0;
thread_local int current_device = 0;

cudaError_t note(cudaError_t error) {
  if (error != cudaSuccess) last_error = error;
  return error;
}

/// Where the copy may read or write: the host's address itself, or the kernel's address of device memory. Null where
/// the address is not of the kind that the direction says, or the bytes are not within one allocation.
char* side(const void* address, std::size_t bytes, bool device) {
  if (device) return static_cast<char*>(device_bytes(address, bytes));
  return is_device_address(address) ? nullptr : static_cast<char*>(const_cast<void*>(address));
}

void trace(const char* kernel, std::size_t threads) {
  static std::set<std::pair<std::string, std::size_t>> known;
  if (options().trace.empty() || !known.emplace(kernel, threads).second) return;
  std::ofstream(options().trace, std::ios::app) << kernel << ' ' << threads << '\n';
}

}  // namespace

void* inside_kernel(const void* argument, int position) {
  const auto lock = lock_emulator();
  if (argument == nullptr) return nullptr;
  void* const result = device_bytes(argument, 0);
  if (result != nullptr) return result;
  fail("argument " + std::to_string(position) + " of the kernel is " +
       (is_device_address(argument) ? "not in any allocation of the device" : "a pointer to memory of the host"));
}

cudaError_t state_of_device() {
  return launched > 0 && options().lose_at > 0 && launched >= options().lose_at
             ? note(static_cast<cudaError_t>(options().lose_error))
             : cudaSuccess;
}

cudaError_t enqueue_kernel(const char* name, dim3 grid, dim3 block, std::size_t shared_bytes, cudaStream_t stream,
                           SharedSection section, std::function<void()> thread, PtxArguments arguments) {
  const auto lock = lock_emulator();
  if (const cudaError_t error = state_of_device(); error != cudaSuccess) return error;
  const std::size_t threads = std::size_t{block.x} * block.y * block.z;
  if (threads == 0 || threads > kMaxThreads || block.z > 64 || shared_bytes > kSharedBytes)
    return note(cudaErrorInvalidConfiguration);
  if (grid.x == 0 || grid.y == 0 || grid.z == 0 || grid.x > 0x7fffffffu || grid.y > 65535 || grid.z > 65535)
    return note(cudaErrorInvalidConfiguration);
  trace(name, threads);
  ++launched;
  if (state_of_device() != cudaSuccess) return cudaSuccess;  // the launch returns before the device is lost
  std::string counted_as = name;
  if (arguments.float64) counted_as += "/double";
  const bool of_the_text = name != std::string_view("spin");  // which the plugin has for itself
  if (const ptx::Kernel* const kernel = of_the_text ? ptx::find_kernel(name, arguments.float64) : nullptr) {
    shared_bytes = kernel->shared_bytes;
    section = {};
    thread = [kernel, words = std::move(arguments.words)] { ptx::run_thread(*kernel, words); };
  }
  enqueue(stream, [g = Grid{name, grid, block, shared_bytes, section, std::move(thread), std::move(counted_as)}] {
    run_grid(g);
  });
  return cudaSuccess;
}

}  // namespace cuda_emulator

using namespace cuda_emulator;

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void*) {
  *attributes = {};
  if (!options().image) return note(cudaErrorNoKernelImageForDevice);
  attributes->localSizeBytes = options().stack_bytes;
  attributes->maxThreadsPerBlock = kMaxThreads;
  return cudaSuccess;
}

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  if (!options().driver) return note(cudaErrorInsufficientDriver);
  if (options().devices == 0) return note(cudaErrorNoDevice);
  *count = options().devices;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (device < 0 || device >= options().devices) return note(cudaErrorInvalidDevice);
  *properties = {};
  std::snprintf(properties->name, sizeof properties->name, "CUDA emulator %d", device);
  properties->totalGlobalMem = options().memory_bytes;
  properties->sharedMemPerBlock = kSharedBytes;
  properties->major = options().capability / 10;
  properties->minor = options().capability % 10;
  properties->multiProcessorCount = options().multiprocessors;
  properties->maxThreadsPerMultiProcessor = 2 * kMaxThreads;
  properties->maxThreadsPerBlock = kMaxThreads;
  properties->warpSize = 32;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr, int) {
  *value = 1000000;
  return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int* version) {
  *version = 0;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) { return cudaDriverGetVersion(version); }

cudaError_t cudaSetDevice(int device) {
  if (device < 0 || device >= options().devices) return note(cudaErrorInvalidDevice);
  current_device = device;
  return cudaSuccess;
}

cudaError_t cudaGetLastError() {
  const cudaError_t error = last_error;
  last_error = cudaSuccess;
  return error;
}

const char* cudaGetErrorName(cudaError_t error) { return error == cudaSuccess ? "cudaSuccess" : "cudaError"; }

const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return "no error";
    case cudaErrorMemoryAllocation:
      return "out of memory";
    case cudaErrorInvalidConfiguration:
      return "invalid configuration argument";
    case cudaErrorInvalidMemcpyDirection:
      return "invalid copy direction for memcpy";
    case cudaErrorInsufficientDriver:
      return "CUDA driver version is insufficient for CUDA runtime version";
    case cudaErrorNoDevice:
      return "no CUDA-capable device is detected";
    case cudaErrorInvalidDevice:
      return "invalid device ordinal";
    case cudaErrorNoKernelImageForDevice:
      return "no kernel image is available for execution on the device";
    case cudaErrorDevicesUnavailable:
      return "CUDA-capable device(s) is/are busy or unavailable";
    case cudaErrorECCUncorrectable:
      return "uncorrectable ECC error encountered";
    case cudaErrorIllegalAddress:
      return "an illegal memory access was encountered";
    case cudaErrorLaunchTimeout:
      return "the launch timed out and was terminated";
    case cudaErrorLaunchFailure:
      return "unspecified launch failure";
    default:
      return "invalid argument";
  }
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  const auto lock = lock_emulator();
  *free = free_bytes();
  *total = options().memory_bytes;
  return cudaSuccess;
}

cudaError_t cudaMalloc(void** address, std::size_t bytes) {
  const auto lock = lock_emulator();
  if (const cudaError_t error = state_of_device(); error != cudaSuccess) return error;
  *address = bytes == 0 ? nullptr : allocate(bytes);
  return note(bytes == 0 || *address != nullptr ? cudaSuccess : cudaErrorMemoryAllocation);
}

cudaError_t cudaFree(void* address) {
  const auto lock = lock_emulator();
  if (address == nullptr) {  // makes a context, where there is none
    trace("context", static_cast<std::size_t>(current_device));
    return cudaSuccess;
  }
  cudaDeviceSynchronize();
  return note(release(address) ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaHostAlloc(void** address, std::size_t bytes, unsigned) {
  *address = std::malloc(bytes == 0 ? 1 : bytes);
  return note(*address != nullptr ? cudaSuccess : cudaErrorMemoryAllocation);
}

cudaError_t cudaFreeHost(void* address) {
  const auto lock = lock_emulator();
  cudaDeviceSynchronize();
  std::free(address);
  return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  const auto lock = lock_emulator();
  const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  if (const cudaError_t error = state_of_device(); error != cudaSuccess) return error;
  if (is_device_address(to) != to_device || is_device_address(from) != from_device)
    return note(cudaErrorInvalidMemcpyDirection);
  char *const target = side(to, bytes, to_device), *const source = side(from, bytes, from_device);
  if (target == nullptr || source == nullptr) return note(cudaErrorInvalidValue);
  ++(kind == cudaMemcpyHostToDevice   ? counters().copies_to_device
     : kind == cudaMemcpyDeviceToHost ? counters().copies_to_host
                                      : counters().copies_within);
  enqueue(stream, [=] { std::memmove(target, source, bytes); });
  return cudaSuccess;
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  const cudaError_t error = cudaMemcpyAsync(to, from, bytes, kind, nullptr);
  return error == cudaSuccess ? cudaStreamSynchronize(nullptr) : error;
}

cudaError_t cudaMemsetAsync(void* address, int value, std::size_t bytes, cudaStream_t stream) {
  const auto lock = lock_emulator();
  if (const cudaError_t error = state_of_device(); error != cudaSuccess) return error;
  char* const target = side(address, bytes, true);
  if (target == nullptr) return note(cudaErrorInvalidValue);
  ++counters().fills;
  enqueue(stream, [=] { std::memset(target, value, bytes); });
  return cudaSuccess;
}
}
