#pragma once
// What the files of the emulated cuDNN share: plain loops over tensors with any strides, in the order of the stream. It
// refuses what cuDNN refuses: descriptors that were not set, sizes that do not fit together, host pointers, memory or
// workspace that is too small, and, as not supported, a convolution of tensors that are not packed. Some shapes it does
// not support for no other reason than that cuDNN has such shapes too.

#include <cstddef>
#include <utility>

#include "cuda_runtime.h"
#include "lockstep/kernels/cuda/cudnn_functions.hpp"
#include "memory.hpp"
#include "streams.hpp"

namespace cuda_emulator::dnn {

using namespace lockstep::cuda;
using Index = std::ptrdiff_t;

constexpr int kWrong = kCudnnBadParam;

struct Handle {
  cudaStream_t stream = nullptr;
};
struct Tensor {
  bool set = false;
  int type = 0;
  Index n = 0, c = 0, h = 0, w = 0, n_stride = 0, c_stride = 0, h_stride = 0, w_stride = 0;

  Index at(Index in, Index ic, Index ih, Index iw) const {
    return in * n_stride + ic * c_stride + ih * h_stride + iw * w_stride;
  }
  std::size_t extent() const { return std::size_t(at(n - 1, c - 1, h - 1, w - 1)) + 1; }
  bool packed() const { return w_stride == 1 && h_stride == w && c_stride == h * w && n_stride == c * h * w; }
  bool same_shape(const Tensor& other) const {
    return set && other.set && type == other.type && n == other.n && c == other.c && h == other.h && w == other.w;
  }
};
struct Filter {
  bool set = false;
  int type = 0;
  Index k = 0, c = 0, h = 0, w = 0;
  std::size_t extent() const { return std::size_t(k * c * h * w); }
};
struct Convolution {
  bool set = false;
  int type = 0, math = kCudnnDefaultMath;
  Index pad_h = 0, pad_w = 0, stride_h = 0, stride_w = 0, dilation_h = 0, dilation_w = 0, groups = 1;
};
struct Pooling {
  bool set = false;
  int mode = 0;
  Index window_h = 0, window_w = 0, pad_h = 0, pad_w = 0, stride_h = 0, stride_w = 0;
};

template <class Descriptor>
int make(void** result) {
  *result = new Descriptor;
  return kCudnnSuccess;
}
template <class Descriptor>
int destroy(void* descriptor) {
  delete static_cast<Descriptor*>(descriptor);
  return kCudnnSuccess;
}
template <class Descriptor>
const Descriptor& get(void* descriptor) {
  static const Descriptor never_set;
  return descriptor == nullptr ? never_set : *static_cast<const Descriptor*>(descriptor);
}
inline const Tensor& tensor(void* descriptor) { return get<Tensor>(descriptor); }

/// The kernel's address of what a descriptor describes; null where that is not all device memory.
template <class T, class Described>
T* data(const Described& described, const void* address) {
  return static_cast<T*>(cuda_emulator::device_bytes(address, described.extent() * sizeof(T)));
}
template <class T>
T* numbers(const void* address, Index count) {
  return static_cast<T*>(cuda_emulator::device_bytes(address, std::size_t(count) * sizeof(T)));
}

template <class Work>
int enqueue(void* handle, Work work) {
  cuda_emulator::enqueue(static_cast<Handle*>(handle)->stream, std::move(work));
  return kCudnnSuccess;
}

/// Calls run with a number of the type.
template <class Run>
int with_type(int type, const Run& run) {
  const auto lock = cuda_emulator::lock_emulator();
  return type == kCudnnDouble ? run(double{}) : run(float{});
}

/// We always ask for output = 1 * operation + 0 * output.
template <class T>
bool overwrites(const void* alpha, const void* beta) {
  return *static_cast<const T*>(alpha) == 1 && *static_cast<const T*>(beta) == 0;
}

/// Calls visit(place in a, place in b) for all numbers of a channel.
template <class Visit>
void for_each_of(Index c, const Tensor& a, const Tensor& b, const Visit& visit) {
  for (Index n = 0; n < a.n; ++n)
    for (Index h = 0; h < a.h; ++h)
      for (Index w = 0; w < a.w; ++w) visit(a.at(n, c, h, w), b.at(n, c, h, w));
}

}  // namespace cuda_emulator::dnn

// The functions themselves, as the plugin looks for them: a definition that differs does not compile.
extern "C" {
#define LOCKSTEP_CUDNN_DECLARE(name, result, parameters) result name parameters;
using lockstep::cuda::CudnnAlgorithm;
LOCKSTEP_CUDNN_FUNCTIONS(LOCKSTEP_CUDNN_DECLARE)
#undef LOCKSTEP_CUDNN_DECLARE
}
