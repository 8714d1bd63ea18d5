#pragma once
// Stands in the place of the CUDA toolkit's header of this name when g++ compiles our .cu files for the emulator: the
// part of the runtime and of the device language that Lockstep uses, declared as the toolkit declares it. Needs no
// toolkit. Whoever uses something that is not here gets a compile error, not a guess.

#include <math.h>  // with the functions for float outside of std, as CUDA has them

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <tuple>
#include <type_traits>
#include <vector>

#define LOCKSTEP_CUDA_EMULATED 1

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __restrict__ __restrict
// All static shared memory of a library lies in one section, which the emulator fills with NaN before every block.
#define __shared__ static __attribute__((section("cuda_shared")))

struct uint3 {
  unsigned x, y, z;
};
struct dim3 {
  unsigned x = 1, y = 1, z = 1;
  constexpr dim3(unsigned width = 1, unsigned height = 1, unsigned depth = 1) : x(width), y(height), z(depth) {}
};

enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInvalidConfiguration = 9,
  cudaErrorInvalidMemcpyDirection = 21,
  cudaErrorInsufficientDriver = 35,
  cudaErrorDevicesUnavailable = 46,
  cudaErrorInvalidDeviceFunction = 98,
  cudaErrorNoDevice = 100,
  cudaErrorInvalidDevice = 101,
  cudaErrorNoKernelImageForDevice = 209,
  cudaErrorECCUncorrectable = 214,
  cudaErrorUnsupportedPtxVersion = 222,
  cudaErrorInvalidResourceHandle = 400,
  cudaErrorNotReady = 600,
  cudaErrorIllegalAddress = 700,
  cudaErrorLaunchTimeout = 702,
  cudaErrorHardwareStackError = 714,
  cudaErrorLaunchFailure = 719,
};
enum cudaMemcpyKind {
  cudaMemcpyHostToHost = 0,
  cudaMemcpyHostToDevice = 1,
  cudaMemcpyDeviceToHost = 2,
  cudaMemcpyDeviceToDevice = 3,
};
enum cudaDeviceAttr { cudaDevAttrClockRate = 13 };
struct CUstream_st;
struct CUevent_st;
struct CUgraph_st;
struct CUgraphNode_st;
struct CUgraphExec_st;
struct cudaKernelNodeParams;
using cudaStream_t = CUstream_st*;
using cudaEvent_t = CUevent_st*;
using cudaGraph_t = CUgraph_st*;
using cudaGraphNode_t = CUgraphNode_st*;
using cudaGraphExec_t = CUgraphExec_st*;
constexpr unsigned cudaStreamNonBlocking = 1, cudaEventDefault = 0, cudaEventDisableTiming = 2,
                   cudaHostAllocDefault = 0;

struct cudaDeviceProp {
  char name[256];
  std::size_t totalGlobalMem, sharedMemPerBlock;
  int major, minor, multiProcessorCount, maxThreadsPerBlock, maxThreadsPerMultiProcessor, warpSize;
};
struct cudaFuncAttributes {
  std::size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
  int maxThreadsPerBlock, numRegs;
};

extern "C" {
cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);
cudaError_t cudaDriverGetVersion(int* version);
cudaError_t cudaRuntimeGetVersion(int* version);
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetLastError();
const char* cudaGetErrorName(cudaError_t error);
const char* cudaGetErrorString(cudaError_t error);
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total);
cudaError_t cudaMalloc(void** address, std::size_t bytes);
cudaError_t cudaFree(void* address);
cudaError_t cudaHostAlloc(void** address, std::size_t bytes, unsigned flags);
cudaError_t cudaFreeHost(void* address);
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaMemsetAsync(void* address, int value, std::size_t bytes, cudaStream_t stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end);
cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned flags);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                   std::size_t count, const cudaKernelNodeParams* parameters);
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long flags);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable);
cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const cudaKernelNodeParams* parameters);
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream);
}
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* kernel);

namespace cuda_emulator {

/// Where the thread that runs is. Blocks run one after the other, so one copy is enough.
extern uint3 thread_index, block_index;
extern dim3 block_size, grid_size;

/// `file` and `line` tell barriers apart: all threads of a block must wait at the same one.
void wait_for_block(const char* file, int line);
/// Gives `value` to the other lanes of `mask` and returns that of lane `source` (of this one where source is no lane).
std::uint64_t exchange_in_warp(unsigned mask, std::uint64_t value, int source);
int lane();
void* dynamic_shared();

/// The address that a kernel uses for a pointer of the host's; ends the program where it is no device address.
void* inside_kernel(const void* argument, int position);
struct SharedSection {
  char *begin, *end;
};
/// The arguments once more, as PTX takes them, and for which precision the kernel was compiled.
struct PtxArguments {
  std::vector<std::uint64_t> words;
  bool float64;
};
cudaError_t enqueue_kernel(const char* name, dim3 grid, dim3 block, std::size_t shared_bytes, cudaStream_t stream,
                           SharedSection section, std::function<void()> thread, PtxArguments arguments);

/// What a node of a graph does, besides what CUDA calls its parameters.
struct KernelCall {
  const char* name;
  SharedSection section;
  std::function<void()> thread;
  PtxArguments arguments;
};

template <class T>
std::uint64_t word_of(const T& argument) {
  static_assert(sizeof argument <= sizeof(std::uint64_t));
  std::uint64_t word = 0;
  std::memcpy(&word, &argument, sizeof argument);
  return word;
}
/// A kernel of both precisions is compiled for double where no parameter is a float.
template <class... Parameters>
PtxArguments ptx_arguments(const Parameters&... arguments) {
  const bool is_float = (... || std::is_same_v<std::remove_cv_t<std::remove_pointer_t<Parameters>>, float>);
  return {{word_of(arguments)...}, !is_float};
}

/// The argument as the kernel sees it; `position` counts them for messages.
template <class T>
T translate(T argument, int& position) {
  ++position;
  if constexpr (std::is_pointer_v<T>)
    return static_cast<T>(inside_kernel(static_cast<const void*>(argument), position));
  else
    return argument;
}

template <class T>
T shuffle(unsigned mask, T value, int source) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  bits = exchange_in_warp(mask, bits, source);
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

}  // namespace cuda_emulator

/// In the order of CUDA's members; gridDim and blockDim are words of the device language here.
struct cudaKernelNodeParams {
  void* func;
  dim3 grid, block;
  unsigned sharedMemBytes;
  void** kernelParams;
  void** extra;
  cuda_emulator::KernelCall call;
};

#define threadIdx cuda_emulator::thread_index
#define blockIdx cuda_emulator::block_index
#define blockDim cuda_emulator::block_size
#define gridDim cuda_emulator::grid_size
#define __syncthreads() cuda_emulator::wait_for_block(__FILE__, __LINE__)

/// A clock that runs by itself: who waits for it comes to an end.
inline long long clock64() {
  static long long cycles = 0;
  return cycles += 1000;
}
inline void __syncwarp(unsigned mask = 0xffffffffu) { cuda_emulator::exchange_in_warp(mask, 0, cuda_emulator::lane()); }
template <class T>
T __shfl_sync(unsigned mask, T value, int source, int width = 32) {
  const int lane = cuda_emulator::lane();
  return cuda_emulator::shuffle(mask, value, lane / width * width + source % width);
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned distance, int width = 32) {
  const int lane = cuda_emulator::lane(), source = lane + static_cast<int>(distance);
  return cuda_emulator::shuffle(mask, value, source / width == lane / width ? source : lane);
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned distance, int width = 32) {
  const int lane = cuda_emulator::lane(), source = lane - static_cast<int>(distance);
  return cuda_emulator::shuffle(mask, value, source >= lane / width * width ? source : lane);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int bits, int width = 32) {
  const int lane = cuda_emulator::lane(), source = lane ^ bits;
  return cuda_emulator::shuffle(mask, value, source / width <= lane / width ? source : lane);
}

template <class To, class From>
To cuda_emulator_cast(From value) {
  static_assert(sizeof(To) == sizeof(From));
  To result;
  std::memcpy(&result, &value, sizeof result);
  return result;
}
inline float __uint_as_float(unsigned bits) { return cuda_emulator_cast<float>(bits); }
inline unsigned __float_as_uint(float value) { return cuda_emulator_cast<unsigned>(value); }
inline double __longlong_as_double(long long bits) { return cuda_emulator_cast<double>(bits); }
inline long long __double_as_longlong(double value) { return cuda_emulator_cast<long long>(value); }

// The bounds of the section are those of the library that includes this: hidden, and weak where it has no __shared__.
extern "C" {
extern __attribute__((weak, visibility("hidden"))) char __start_cuda_shared[];
extern __attribute__((weak, visibility("hidden"))) char __stop_cuda_shared[];
}
