// The kernels of kernels/device/text for double.
#define REAL double
#define WORD unsigned long long
#define REAL_IS_DOUBLE 1
#include "lockstep/kernels/cuda/text.cuh"

namespace lockstep::cuda {
const KernelEntry* find_double_kernel(const char* name) { return find_in(entries(), name); }
cudaError_t for_each_double_kernel(cudaError_t (*visit)(const KernelEntry& kernel, void* data), void* data) {
  return for_each_in(entries(), visit, data);
}
}  // namespace lockstep::cuda
