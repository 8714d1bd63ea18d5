// The kernels of kernels/device/text for double.
#define REAL double
#define WORD unsigned long long
#define REAL_IS_DOUBLE 1
#include "lockstep/kernels/cuda/text.cuh"

namespace lockstep::cuda {
const KernelEntry* find_double_kernel(const char* name) { return find_in(entries(), name); }
}  // namespace lockstep::cuda
