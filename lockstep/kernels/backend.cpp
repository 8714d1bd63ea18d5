#include "lockstep/kernels/backend.hpp"

#include "lockstep/core/error.hpp"
#include "lockstep/kernels/cuda/cuda.hpp"
#include "lockstep/kernels/device/devices.hpp"
#include "lockstep/kernels/device/table.hpp"
#include "lockstep/kernels/library/table.hpp"
#include "lockstep/kernels/naive/table.hpp"
#include "lockstep/kernels/opencl/opencl.hpp"
#include "lockstep/kernels/simd/table.hpp"

namespace lockstep {

const std::vector<std::string>& backend_names() {
  static const std::vector<std::string> names = {"simd",       "naive",        "naive-o0",       "library",
                                                 "opencl",     "opencl-naive", "opencl-library", "cuda",
                                                 "cuda-naive", "cuda-library"};
  return names;
}

bool keeps_the_promise(Backend backend) {
  return backend != Backend::library && backend != Backend::opencl_library && backend != Backend::cuda_library;
}

template <class T>
KernelTable<T> make_table(Backend backend) {
  switch (backend) {
    case Backend::simd:
      return make_simd_table<T>();
    case Backend::naive:
      return make_naive_table<T>();
    case Backend::naive_o0:
      return make_naive_o0_table<T>();
    case Backend::library:
      return make_library_table<T>();
    case Backend::opencl:
      return make_device_table<T>("opencl");
    case Backend::opencl_naive:
      return make_naive_device_table<T>("opencl-naive");
    case Backend::opencl_library: {
      KernelTable<T> table = make_device_table<T>("opencl-library");
      add_clblast_kernels(table);
      return table;
    }
    case Backend::cuda:
      return make_device_table<T>("cuda");
    case Backend::cuda_naive:
      return make_naive_device_table<T>("cuda-naive");
    case Backend::cuda_library: {
      KernelTable<T> table = make_device_table<T>("cuda-library");
      add_cublas_kernels(table);
      add_cudnn_kernels(table);
      return table;
    }
  }
  throw Error(ExitCode::bug, "unknown backend");
}

bool on_device(Backend backend) { return backend >= Backend::opencl; }

std::shared_ptr<Device> open_device(Backend backend, int local_rank) {
  if (!on_device(backend)) throw Error(ExitCode::bug, "this backend has no device");
  if (backend < Backend::cuda) return open_opencl_device(local_rank);
  return open_cuda_device(local_rank, backend == Backend::cuda_library);
}

template KernelTable<float> make_table<float>(Backend);
template KernelTable<double> make_table<double>(Backend);

}  // namespace lockstep
