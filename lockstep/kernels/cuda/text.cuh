// The kernels of kernels/device/text in CUDA C++ (text/prelude.h says what the words mean), and a table of them by
// name. Included by kernels_float.cu and kernels_double.cu, which define REAL, WORD and REAL_IS_DOUBLE.

#include <string_view>
#include <unordered_map>

#include "lockstep/kernels/cuda/kernels.cuh"
#include "lockstep/kernels/device/text/list.hpp"

#define LANES 1
#define LANE REAL
#define BITS WORD
#define KERNEL __global__ void
#define KERNEL_OF(items, groups) __global__ void __launch_bounds__(items, groups)
#define DEVICE __device__ __forceinline__
#define GLOBAL
#define LOCAL __shared__
#define I64 long long
#define U64 unsigned long long
#define U32 unsigned
// Not restrict: several operations may be done in place.
#define IN(T, name) const T* name##_base
#define OUT(T, name) T* name##_base
#define USE_IN(T, name) const T* const name = name##_base
#define USE_OUT(T, name) T* const name = name##_base
#define USE_AT(name) 0
#define GROUP(d) axis<d>(blockIdx)
#define ITEM(d) static_cast<int>(axis<d>(threadIdx))
#define ITEMS(d) static_cast<int>(axis<d>(blockDim))
#define GLOBAL_ITEM(d) (axis<d>(blockIdx) * axis<d>(blockDim) + axis<d>(threadIdx))
#define GLOBAL_ITEMS(d) (axis<d>(gridDim) * axis<d>(blockDim))
#define BARRIER() __syncthreads()
#define AS_LANE(x) as_real(x)
#define AS_BITS(x) as_bits(x)
#define LOAD(p) (*(p))
#define STORE(v, p) (*(p) = (v))

namespace lockstep::cuda {

namespace {

template <int dimension, class Vector>
__device__ __forceinline__ long long axis(const Vector& v) {
  if constexpr (dimension == 0)
    return v.x;
  else if constexpr (dimension == 1)
    return v.y;
  else
    return v.z;
}

#if REAL_IS_DOUBLE
__device__ __forceinline__ double as_real(WORD bits) { return __longlong_as_double(static_cast<long long>(bits)); }
__device__ __forceinline__ WORD as_bits(double value) { return static_cast<WORD>(__double_as_longlong(value)); }
#else
__device__ __forceinline__ float as_real(WORD bits) { return __uint_as_float(bits); }
__device__ __forceinline__ WORD as_bits(float value) { return __float_as_uint(value); }
#endif

// clang-format off
#include "lockstep/kernels/device/text/prelude.h"
#include "lockstep_device_programs.cuh"  // made by CMake from text/list.hpp
// clang-format on

using Entries = std::unordered_map<std::string_view, KernelEntry>;

const Entries& entries() {
#define LOCKSTEP_ENTRY(program, kernel) \
  {#kernel, {#kernel, &takes<&kernel>, &start<&kernel>, &examine<&kernel>, &put<&kernel>}},
  static const Entries all = {LOCKSTEP_DEVICE_KERNELS(LOCKSTEP_ENTRY)};
  return all;
}

const KernelEntry* find_in(const Entries& all, const char* name) {
  const auto found = all.find(name);
  return found == all.end() ? nullptr : &found->second;
}

cudaError_t for_each_in(const Entries& all, cudaError_t (*visit)(const KernelEntry& kernel, void* data), void* data) {
  for (const auto& entry : all)
    if (const cudaError_t error = visit(entry.second, data); error != cudaSuccess) return error;
  return cudaSuccess;
}

}  // namespace

}  // namespace lockstep::cuda
