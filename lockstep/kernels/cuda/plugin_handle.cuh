#pragma once
// What the parts of the plugin share: statuses, an open device, and the times of what it does. Included by plugin.cu
// only.

#include <cstdint>
#include <cstdio>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "lockstep/kernels/cuda/cudnn.cuh"
#include "lockstep/kernels/cuda/graphs.cuh"
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

/// What an error means for the program; an address that is wrong, for example, is a mistake of ours.
CudaStatus status_of(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return CudaStatus::ok;
    case cudaErrorMemoryAllocation:
      return CudaStatus::out_of_memory;
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorInvalidDeviceFunction:
    case cudaErrorUnsupportedPtxVersion:
      return CudaStatus::no_image;
    case cudaErrorDevicesUnavailable:
    case cudaErrorECCUncorrectable:
    case cudaErrorLaunchTimeout:
    case cudaErrorHardwareStackError:
    case cudaErrorLaunchFailure:
      return CudaStatus::lost;
    default:
      return CudaStatus::failed;
  }
}

CudaStatus check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return CudaStatus::ok;
  cudaGetLastError();  // it has been told, do not tell it again
  return fail(status_of(error), what, cudaGetErrorString(error));
}

#define LOCKSTEP_CUDA_TRY(call, what)                                                             \
  do {                                                                                            \
    if (const CudaStatus status = check((call), (what)); status != CudaStatus::ok) return status; \
  } while (false)

void* pointer(std::uint64_t address) { return reinterpret_cast<void*>(static_cast<std::uintptr_t>(address)); }

}  // namespace

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

}  // namespace lockstep::cuda

namespace lockstep {

struct CudaDeviceHandle {
  int device = 0;
  std::uint64_t memory_bytes = 0;
  std::uint64_t stack_bytes = 0;  // of all threads that run at the same time
  int clock_khz = 0;
  cudaStream_t kernels = nullptr, copies = nullptr;
  cuda::LaunchQueue queue;  // of the stream `kernels`
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

/// Starts what was launched and waits for company. Before everything else that goes into the stream of kernels, or
/// that waits for it.
CudaStatus flush(Handle* handle) {
  if (const CudaStatus status = enter(handle); status != CudaStatus::ok) return status;
  const char* what = "";
  const cudaError_t error = handle->queue.start(handle->kernels, what);
  return check(error, what);
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

}  // namespace

}  // namespace lockstep::cuda
