#pragma once
// The one way in which kernels are launched. `kernel<<<...>>>` is a language of its own that only nvcc reads; launch()
// is a function, so that g++ can compile the same .cu files against the emulator of tests/cuda_emulator. The files of
// the plugin are C++17, which older toolkits know too.

#include <cuda_runtime.h>

#include <cstddef>
#include <tuple>

// Shared memory whose size is given at the launch. One array for all kernels: the name would otherwise have one type
// in one kernel and another in the next, which nvcc refuses.
#ifdef LOCKSTEP_CUDA_EMULATED
#define LOCKSTEP_DYNAMIC_SHARED(type, name) type* const name = static_cast<type*>(cuda_emulator::dynamic_shared())
#else
#define LOCKSTEP_DYNAMIC_SHARED(type, name)                              \
  extern __shared__ __align__(16) unsigned char lockstep_shared_bytes[]; \
  type* const name = reinterpret_cast<type*>(lockstep_shared_bytes)
#endif

namespace lockstep::cuda {

template <class... Parameters>
struct NamedKernel {
  const char* name;
  void (*function)(Parameters...);
};

/// A parameter of this type takes no part in deducing it.
template <class T>
struct NotDeduced {
  using Type = T;
};

/// Starts a grid of `grid` blocks of `block` threads with `shared_bytes` of dynamic shared memory, in the order of
/// `stream`; does not wait. Pointers among the arguments are device addresses.
template <class... Parameters>
cudaError_t launch(NamedKernel<Parameters...> kernel, dim3 grid, dim3 block, std::size_t shared_bytes,
                   cudaStream_t stream, typename NotDeduced<Parameters>::Type... arguments) {
#ifdef LOCKSTEP_CUDA_EMULATED
  int position = 0;
  // Braces: the elements are initialised from left to right.
  std::tuple<Parameters...> inside{cuda_emulator::translate(arguments, position)...};
  return cuda_emulator::enqueue_kernel(
      kernel.name, grid, block, shared_bytes, stream, {__start_cuda_shared, __stop_cuda_shared},
      [kernel, inside] { std::apply(kernel.function, inside); },
      std::apply(cuda_emulator::ptx_arguments<Parameters...>, inside));
#else
  void* pointers[] = {&arguments...};
  return cudaLaunchKernel(reinterpret_cast<const void*>(kernel.function), grid, block, pointers, shared_bytes, stream);
#endif
}

/// Where a launch goes in a graph: a new node of `graph`, behind `after` where that is given, or the node of a graph
/// that runs already.
struct GraphPlace {
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  const cudaGraphNode_t* after;
  cudaGraphNode_t* node;
};

/// Puts a launch with these arguments there.
template <class... Parameters>
cudaError_t put_into_graph(NamedKernel<Parameters...> kernel, dim3 grid, dim3 block, const GraphPlace& place,
                           typename NotDeduced<Parameters>::Type... arguments) {
  void* const function = reinterpret_cast<void*>(kernel.function);
#ifdef LOCKSTEP_CUDA_EMULATED
  int position = 0;
  std::tuple<Parameters...> inside{cuda_emulator::translate(arguments, position)...};
  const cudaKernelNodeParams parameters{function,
                                        grid,
                                        block,
                                        0,
                                        nullptr,
                                        nullptr,
                                        {kernel.name,
                                         {__start_cuda_shared, __stop_cuda_shared},
                                         [kernel, inside] { std::apply(kernel.function, inside); },
                                         std::apply(cuda_emulator::ptx_arguments<Parameters...>, inside)}};
#else
  void* pointers[] = {&arguments...};
  const cudaKernelNodeParams parameters{function, grid, block, 0, pointers, nullptr};
#endif
  if (place.executable != nullptr) return cudaGraphExecKernelNodeSetParams(place.executable, *place.node, &parameters);
  return cudaGraphAddKernelNode(place.node, place.graph, place.after, place.after == nullptr ? 0 : 1, &parameters);
}

}  // namespace lockstep::cuda
