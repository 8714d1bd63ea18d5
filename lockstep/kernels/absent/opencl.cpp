// What stands in for opencl/*.cpp in a build that did not find the headers of OpenCL.

#include "lockstep/kernels/opencl/opencl.hpp"
#include "lockstep/core/error.hpp"

namespace lockstep {

namespace {
[[noreturn]] void refuse() {
  throw Error(
      ErrorCode::usage,
      "backend opencl: the headers of OpenCL were missing when Lockstep was built: install opencl-c-headers and "
      "build again, or use the backend simd");
}
}  // namespace

std::vector<DeviceInfo> list_opencl_devices() { return {}; }
std::shared_ptr<Device> open_opencl_device(int) { refuse(); }
template <class T>
void add_clblast_kernels(KernelTable<T>&) {
  refuse();
}
template void add_clblast_kernels(KernelTable<float>&);
template void add_clblast_kernels(KernelTable<double>&);

}  // namespace lockstep
