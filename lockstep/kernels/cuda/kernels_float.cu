// The kernels of kernels/device/text for float.
#define REAL float
#define WORD unsigned
#define REAL_IS_DOUBLE 0
#include "lockstep/kernels/cuda/text.cuh"

namespace lockstep::cuda {
const KernelEntry* find_float_kernel(const char* name) { return find_in(entries(), name); }
cudaError_t for_each_float_kernel(cudaError_t (*visit)(const KernelEntry& kernel, void* data), void* data) {
  return for_each_in(entries(), visit, data);
}
}  // namespace lockstep::cuda
