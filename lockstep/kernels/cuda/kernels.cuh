#pragma once
// The kernels of the plugin by name, each with a function that takes its arguments from a list and checks their types.

#include <type_traits>
#include <utility>

#include "lockstep/kernels/cuda/launch.cuh"
#include "lockstep/kernels/cuda/plugin.hpp"

namespace lockstep::cuda {

/// Names without functions stand for what is no kernel of ours: copies, calls of libraries.
struct KernelEntry {
  const char* name;
  /// Whether number and types of the arguments are those of the kernel.
  bool (*takes)(const CudaLaunch& launch) = nullptr;
  cudaError_t (*start)(const char* name, const CudaLaunch& launch, cudaStream_t stream) = nullptr;
  /// Loads the kernel, and says what it needs.
  cudaError_t (*examine)(cudaFuncAttributes* attributes) = nullptr;
  /// As start, into a graph.
  cudaError_t (*put)(const char* name, const CudaLaunch& launch, const GraphPlace& place) = nullptr;
};

/// The entry of this name, or null.
const KernelEntry* find_float_kernel(const char* name);
const KernelEntry* find_double_kernel(const char* name);
/// Calls visit for all of them, until it returns an error.
cudaError_t for_each_float_kernel(cudaError_t (*visit)(const KernelEntry& kernel, void* data), void* data);
cudaError_t for_each_double_kernel(cudaError_t (*visit)(const KernelEntry& kernel, void* data), void* data);

/// The kind of argument that a parameter takes.
template <class T>
constexpr CudaKind kind_of() {
  if constexpr (std::is_pointer_v<T>)
    return CudaKind::address;
  else if constexpr (std::is_same_v<T, float>)
    return CudaKind::float32;
  else if constexpr (std::is_same_v<T, double>)
    return CudaKind::float64;
  else if constexpr (sizeof(T) == 4)
    return std::is_signed_v<T> ? CudaKind::int32 : CudaKind::uint32;
  else
    return std::is_signed_v<T> ? CudaKind::int64 : CudaKind::uint64;
}

template <class T>
T value_of(const CudaArgument& argument) {
  if constexpr (std::is_pointer_v<T>)
    return reinterpret_cast<T>(argument.address);
  else if constexpr (std::is_same_v<T, float>)
    return argument.float32;
  else if constexpr (std::is_same_v<T, double>)
    return argument.float64;
  else if constexpr (sizeof(T) == 4)
    return static_cast<T>(argument.uint32);
  else
    return static_cast<T>(argument.uint64);
}

template <class... Parameters>
struct Adapter {
  template <std::size_t... Index>
  static bool takes(const CudaLaunch& l, std::index_sequence<Index...>) {
    return l.count == static_cast<int>(sizeof...(Parameters)) &&
           (... && (l.arguments[Index].kind == kind_of<Parameters>()));
  }
  template <std::size_t... Index>
  static cudaError_t start(NamedKernel<Parameters...> kernel, const CudaLaunch& l, cudaStream_t stream,
                           std::index_sequence<Index...>) {
    return launch(kernel, dim3(l.grid[0], l.grid[1], l.grid[2]), dim3(l.block[0], l.block[1], l.block[2]), 0, stream,
                  value_of<Parameters>(l.arguments[Index])...);
  }
  template <std::size_t... Index>
  static cudaError_t put(NamedKernel<Parameters...> kernel, const CudaLaunch& l, const GraphPlace& place,
                         std::index_sequence<Index...>) {
    return put_into_graph(kernel, dim3(l.grid[0], l.grid[1], l.grid[2]), dim3(l.block[0], l.block[1], l.block[2]),
                          place, value_of<Parameters>(l.arguments[Index])...);
  }
};

template <class... Parameters>
bool takes_those_of(void (*)(Parameters...), const CudaLaunch& l) {
  return Adapter<Parameters...>::takes(l, std::index_sequence_for<Parameters...>{});
}
template <class... Parameters>
cudaError_t start_named(const char* name, void (*function)(Parameters...), const CudaLaunch& l, cudaStream_t stream) {
  return Adapter<Parameters...>::start({name, function}, l, stream, std::index_sequence_for<Parameters...>{});
}

template <class... Parameters>
cudaError_t put_named(const char* name, void (*function)(Parameters...), const CudaLaunch& l, const GraphPlace& place) {
  return Adapter<Parameters...>::put({name, function}, l, place, std::index_sequence_for<Parameters...>{});
}

/// The functions of a KernelEntry. The kernel is known when this is compiled, so its types are too.
template <auto kernel>
bool takes(const CudaLaunch& l) {
  return takes_those_of(kernel, l);
}
template <auto kernel>
cudaError_t start(const char* name, const CudaLaunch& l, cudaStream_t stream) {
  return start_named(name, kernel, l, stream);
}
template <auto kernel>
cudaError_t put(const char* name, const CudaLaunch& l, const GraphPlace& place) {
  return put_named(name, kernel, l, place);
}
template <auto kernel>
cudaError_t examine(cudaFuncAttributes* attributes) {
  return cudaFuncGetAttributes(attributes, reinterpret_cast<const void*>(kernel));
}

}  // namespace lockstep::cuda
