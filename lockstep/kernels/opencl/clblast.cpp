#include "lockstep/core/error.hpp"
#include "lockstep/kernels/opencl/opencl.hpp"

namespace lockstep {

template <class T>
void add_clblast_kernels(KernelTable<T>&) {
  throw Error(ExitCode::usage, "backend opencl-library is not there yet; use --backend opencl");
}
template void add_clblast_kernels(KernelTable<float>&);
template void add_clblast_kernels(KernelTable<double>&);

}  // namespace lockstep
