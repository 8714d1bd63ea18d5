#pragma once
// The part of Lockstep that is compiled by nvcc: a shared object of its own, opened only when the backend cuda is asked
// for. So one program runs with and without CUDA, and starts on a machine that has neither driver nor toolkit. This
// table of C functions is all that the program sees of CUDA; tests/cuda_emulator makes a second plugin from the same
// sources, for the CPU. C++17, because nvcc reads it too.

#include <cstddef>
#include <cstdint>

namespace lockstep {

/// Changes with every change of CudaPlugin: a plugin of another build is refused.
inline constexpr int kCudaPluginVersion = 4;
inline constexpr const char* kCudaPluginSymbol = "lockstep_cuda_plugin";

/// What functions of the plugin return.
enum class CudaStatus : int {
  ok,
  no_driver,
  old_driver,
  no_device,
  no_image,  // the plugin holds no kernels for this device
  lost,      // the device, in the middle of work: a reset, its time limit, broken memory
  out_of_memory,
  no_kernel,
  wrong_arguments,
  no_library,
  not_supported,  // by the library: our own kernel must do it
  failed
};

struct CudaFacts {
  char name[256];
  std::uint64_t memory_bytes, free_bytes, shared_bytes;  // shared_bytes: of one block
  int major, minor;                                      // compute capability
  int multiprocessors, max_threads;                      // max_threads: of one block
};

/// The memory of a device that is open.
struct CudaMemory {
  std::uint64_t total_bytes, free_bytes;
  std::uint64_t stack_bytes;  // what the driver takes for the threads that run at the same time, at the first launch
};

enum class CudaKind : std::int32_t { address, int32, int64, uint32, uint64, float32, float64 };
struct CudaArgument {
  CudaKind kind;
  union {
    std::uint64_t address;
    std::int32_t int32;
    std::uint32_t uint32;
    std::int64_t int64;
    std::uint64_t uint64;
    float float32;
    double float64;
  };
};

struct CudaLaunch {
  const char* kernel;
  bool float64;  // which build of it
  std::uint32_t grid[3], block[3];
  const CudaArgument* arguments;
  std::int32_t count;
};

/// c = alpha * op(a) op(b) + beta * c, column-major, by cuBLAS.
struct CudaGemm {
  bool is_double, transpose_a, transpose_b;
  std::int32_t m, n, k, lda, ldb, ldc;
  double alpha, beta;
  std::uint64_t a, b, c;
};

/// The numbers that a convolution's plan depends on.
struct CudaConvolutionShape {
  enum Operation : std::int32_t { forward, backward_data, backward_weights };
  Operation operation;
  std::int32_t is_double;
  std::int32_t samples, in_channels, in_height, in_width, out_channels, out_height, out_width;
  std::int32_t kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w, groups;
};
/// One of the three operations of conv2d.hpp, by cuDNN. x and y (backward: dx and dy) are matrices of features by
/// samples, whose rows lie `*_stride` apart. The scratch is as large as convolution_scratch says.
struct CudaConvolution {
  CudaConvolutionShape shape;
  std::int32_t x_stride, y_stride;
  std::uint64_t x, w, b, y, scratch;  // b: 0 where there is none
};

/// The most memory that a convolution of cuDNN may ask for, on a device with so much in all. The same for every run on
/// a card: what is free decides nothing, so neither does it decide the algorithm.
constexpr std::uint64_t cudnn_workspace(std::uint64_t memory_bytes) {
  constexpr std::uint64_t kMost = std::uint64_t{256} << 20;
  return memory_bytes / 16 < kMost ? memory_bytes / 16 : kMost;
}

/// A matrix of planes * height * width rows by samples, whose rows lie `stride` apart.
struct CudaImages {
  std::int32_t height, width, stride;
  std::uint64_t address;
};
/// pool2d.hpp by cuDNN; backward where dx is given.
struct CudaPooling {
  bool is_double, average;
  std::int32_t channels, samples, window_h, window_w, stride_h, stride_w, pad_h, pad_w;
  CudaImages x, y, dy, dx;
};

/// batch_norm.hpp by cuDNN, for one slot.
struct CudaNormalisation {
  enum Operation : std::int32_t { training, inference, backward };
  Operation operation;
  bool is_double;
  std::int32_t channels, pixels, samples;
  double eps;                                  // backward: in inv_std already
  std::int32_t x_stride, y_stride, dx_stride;  // y: of dy in backward
  std::uint64_t x, y, dx, gamma, beta;
  std::uint64_t mean, inv_std;              // given by training, taken by backward
  std::uint64_t running_mean, running_var;  // taken by inference; training gives mean and unbiased variance
  std::uint64_t dgamma, dbeta;
};

/// The names of copies among the times of kernels.
inline constexpr const char* kCudaCopyToDevice = "copy to the device";
inline constexpr const char* kCudaCopyToHost = "copy to the host";

struct CudaKernelTime {
  const char* kernel;
  std::uint64_t launches, nanoseconds;
};

struct CudaDeviceHandle;

/// Functions return a CudaStatus and leave what CUDA said for explain(). A handle is used by one thread at a time.
struct CudaPlugin {
  int version;
  const char* toolkit;  // "CUDA 13.0 for sm_75 sm_80"
  /// How many devices there are; `driver` is the version of CUDA that the driver knows (13000), 0 without one.
  CudaStatus (*count)(int* devices, int* driver);
  CudaStatus (*describe)(int device, CudaFacts* facts);
  /// Makes this the device of the process, before MPI looks for one.
  CudaStatus (*choose)(int device);
  CudaStatus (*open)(int device, CudaDeviceHandle** handle);
  void (*close)(CudaDeviceHandle* handle);
  CudaStatus (*memory)(CudaDeviceHandle* handle, CudaMemory* memory);
  CudaStatus (*allocate)(CudaDeviceHandle* handle, std::uint64_t bytes, std::uint64_t* address);
  CudaStatus (*release)(CudaDeviceHandle* handle, std::uint64_t address);
  /// Page-locked memory of the host: copies need no detour from there.
  CudaStatus (*allocate_host)(CudaDeviceHandle* handle, std::uint64_t bytes, void** address);
  CudaStatus (*release_host)(CudaDeviceHandle* handle, void* address);
  /// In the order of kernels; the host's bytes may be changed when it returns.
  CudaStatus (*to_device)(CudaDeviceHandle* handle, std::uint64_t to, const void* from, std::uint64_t bytes);
  /// A copy beside the kernels. Kernels launched after join() come after it; wait() waits for it.
  CudaStatus (*begin_to_device)(CudaDeviceHandle* handle, std::uint64_t to, const void* from, std::uint64_t bytes,
                                std::uint64_t* ticket);
  CudaStatus (*join)(CudaDeviceHandle* handle, std::uint64_t ticket);
  CudaStatus (*wait)(CudaDeviceHandle* handle, std::uint64_t ticket);
  /// Waits for the kernels before it.
  CudaStatus (*to_host)(CudaDeviceHandle* handle, void* to, std::uint64_t from, std::uint64_t bytes);
  CudaStatus (*copy)(CudaDeviceHandle* handle, std::uint64_t to, std::uint64_t from, std::uint64_t bytes);
  CudaStatus (*fill)(CudaDeviceHandle* handle, std::uint64_t to, int byte, std::uint64_t bytes);
  /// Kernels wait for company until flush(), or until a function is called that needs what they do; then they start
  /// together, as a graph where the same row of them came before.
  CudaStatus (*launch)(CudaDeviceHandle* handle, const CudaLaunch* launch);
  CudaStatus (*flush)(CudaDeviceHandle* handle);
  /// Off: every kernel starts when it is launched.
  CudaStatus (*use_graphs)(CudaDeviceHandle* handle, int on);
  CudaStatus (*synchronize)(CudaDeviceHandle* handle);
  /// Keeps the kernels that are launched from now on waiting for this long, so that they follow each other without
  /// gaps.
  CudaStatus (*hold)(CudaDeviceHandle* handle, std::uint64_t nanoseconds);
  /// From now on (or no longer) every kernel, product and copy is timed with two events; switching it on forgets
  /// earlier times.
  CudaStatus (*time_kernels)(CudaDeviceHandle* handle, int on);
  /// Waits; the times since timing was switched on, at most `capacity` of them. Names live as long as the plugin.
  CudaStatus (*kernel_times)(CudaDeviceHandle* handle, CudaKernelTime* times, int capacity, int* count);
  /// Opens cuBLAS; the first product does it too.
  CudaStatus (*open_library)(CudaDeviceHandle* handle);
  CudaStatus (*gemm)(CudaDeviceHandle* handle, const CudaGemm* product);
  /// Opens cuDNN; the functions below do it too. They return not_supported where cuDNN does, with nothing done.
  CudaStatus (*open_dnn)(CudaDeviceHandle* handle);
  CudaStatus (*convolution_scratch)(CudaDeviceHandle* handle, const CudaConvolutionShape* shape, std::uint64_t* bytes);
  CudaStatus (*convolve)(CudaDeviceHandle* handle, const CudaConvolution* convolution);
  CudaStatus (*pool)(CudaDeviceHandle* handle, const CudaPooling* pooling);
  CudaStatus (*normalise)(CudaDeviceHandle* handle, const CudaNormalisation* normalisation);
  /// A named range in the timeline of a profiler (NVTX), until the next null.
  void (*range)(const char* name);
  /// What the last failure of this thread was, in words.
  void (*explain)(char* text, std::size_t capacity);
};

}  // namespace lockstep
