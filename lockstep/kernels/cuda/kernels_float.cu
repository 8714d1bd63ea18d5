// The kernels of kernels/device/text for float.
#define REAL float
#define WORD unsigned
#define REAL_IS_DOUBLE 0
#include "lockstep/kernels/cuda/text.cuh"

namespace lockstep::cuda {
const KernelEntry* find_float_kernel(const char* name) { return find_in(entries(), name); }
}  // namespace lockstep::cuda
