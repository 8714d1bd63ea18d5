// What stands in for cuda/*.cpp in a build without CUDA.

#include "lockstep/kernels/cuda/cuda.hpp"
#include "lockstep/core/error.hpp"

namespace lockstep {

namespace {
[[noreturn]] void refuse() {
  throw Error(ExitCode::usage,
              "backend cuda: this build has no CUDA plugin: install nvidia-cuda-toolkit and build again, or use "
              "--backend opencl or simd");
}
}  // namespace

std::vector<DeviceInfo> list_cuda_devices() { return {}; }
std::shared_ptr<Device> open_cuda_device(int) { refuse(); }
template <class T>
void add_cublas_kernels(KernelTable<T>&) {
  refuse();
}
template void add_cublas_kernels(KernelTable<float>&);
template void add_cublas_kernels(KernelTable<double>&);

}  // namespace lockstep
