#pragma once
/* How a launch reaches the emulator: kernel<<<grid, block>>>(...) is rewritten to lockstep_launch("kernel", kernel,
   {grid, block}, ...), because g++ does not know the three brackets. */

#include <cuda_runtime.h>

#include <tuple>
#include <type_traits>

struct LaunchShape {
  dim3 grid, block;
  size_t shared_bytes = 0;
  cudaStream_t stream = nullptr;
};

template <class... Parameters>
void lockstep_launch(const char* name, void (*kernel)(Parameters...), LaunchShape shape,
                     std::type_identity_t<Parameters>... arguments) {
  int position = 0;
  std::tuple<Parameters...> inside{cuda_emulator::translate(arguments, position)...};
  cuda_emulator::enqueue_kernel(
      name, shape.grid, shape.block, shape.shared_bytes, shape.stream, {__start_cuda_shared, __stop_cuda_shared},
      [kernel, inside] { std::apply(kernel, inside); },
      std::apply(cuda_emulator::ptx_arguments<Parameters...>, inside));
}
