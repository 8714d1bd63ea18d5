#include "lockstep/kernels/backend.hpp"

#include <array>

#include "lockstep/core/error.hpp"
#include "lockstep/kernels/cuda/cuda.hpp"
#include "lockstep/kernels/device/table.hpp"
#include "lockstep/kernels/library/table.hpp"
#include "lockstep/kernels/naive/table.hpp"
#include "lockstep/kernels/opencl/opencl.hpp"
#include "lockstep/kernels/simd/table.hpp"

namespace lockstep {

namespace {

using enum Backend;

template <class T>
KernelTable<T> clblast_table() {
  KernelTable<T> table = make_device_table<T>("opencl-library");
  add_clblast_kernels(table);
  return table;
}

template <class T>
KernelTable<T> cudnn_table() {
  KernelTable<T> table = make_device_table<T>("cuda-library");
  add_cublas_kernels(table);
  add_cudnn_kernels(table);
  return table;
}

std::shared_ptr<Device> open_opencl(LocalRank place) { return open_opencl_device(place.rank); }
std::shared_ptr<Device> open_cuda(LocalRank place) { return open_cuda_device(place.rank, place.size, false); }
std::shared_ptr<Device> open_cuda_with_libraries(LocalRank place) {
  return open_cuda_device(place.rank, place.size, true);
}

#define LOCKSTEP_TABLES(make) [] { return make<float>(); }, [] { return make<double>(); }
#define LOCKSTEP_NAMED_TABLES(make, name) [] { return make<float>(name); }, [] { return make<double>(name); }

// The one list of backends.
constexpr std::array kBackends = {
    BackendInfo{simd, "simd", true, "", LOCKSTEP_TABLES(make_simd_table), nullptr},
    BackendInfo{naive, "naive", true, "", LOCKSTEP_TABLES(make_naive_table), nullptr},
    BackendInfo{naive_o0, "naive-o0", true, "", LOCKSTEP_TABLES(make_naive_o0_table), nullptr},
    BackendInfo{library, "library", false, "", LOCKSTEP_TABLES(make_library_table), nullptr},
    BackendInfo{opencl, "opencl", true, "opencl", LOCKSTEP_NAMED_TABLES(make_device_table, "opencl"), &open_opencl},
    BackendInfo{opencl_naive, "opencl-naive", true, "opencl",
                LOCKSTEP_NAMED_TABLES(make_naive_device_table, "opencl-naive"), &open_opencl},
    BackendInfo{opencl_library, "opencl-library", false, "opencl", LOCKSTEP_TABLES(clblast_table), &open_opencl},
    BackendInfo{cuda, "cuda", true, "cuda", LOCKSTEP_NAMED_TABLES(make_device_table, "cuda"), &open_cuda},
    BackendInfo{cuda_naive, "cuda-naive", true, "cuda", LOCKSTEP_NAMED_TABLES(make_naive_device_table, "cuda-naive"),
                &open_cuda},
    BackendInfo{cuda_library, "cuda-library", false, "cuda", LOCKSTEP_TABLES(cudnn_table), &open_cuda_with_libraries},
};

#undef LOCKSTEP_TABLES
#undef LOCKSTEP_NAMED_TABLES

constexpr bool in_order() {
  for (std::size_t i = 0; i < kBackends.size(); ++i)
    if (kBackends[i].backend != static_cast<Backend>(i)) return false;
  return kBackends.back().backend == cuda_library;
}
static_assert(in_order(), "one record per backend, in the order of Backend");

}  // namespace

const BackendInfo& backend_info(Backend backend) { return kBackends.at(static_cast<std::size_t>(backend)); }

const std::vector<std::string>& backend_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const BackendInfo& info : kBackends) all.emplace_back(info.name);
    return all;
  }();
  return names;
}

template <class T>
KernelTable<T> make_table(Backend backend) {
  if constexpr (std::is_same_v<T, float>)
    return backend_info(backend).float_table();
  else
    return backend_info(backend).double_table();
}

std::shared_ptr<Device> open_device(Backend backend, LocalRank place) {
  if (!on_device(backend)) throw Error(ErrorCode::bug, "this backend has no device");
  return backend_info(backend).open(place);
}

void choose_device(Backend backend, LocalRank place) noexcept {
  if (backend_info(backend).device == std::string_view("cuda")) choose_cuda_device(place.rank);
}

template KernelTable<float> make_table<float>(Backend);
template KernelTable<double> make_table<double>(Backend);

}  // namespace lockstep
