#include "lockstep/kernels/backend.hpp"

#include "lockstep/core/error.hpp"
#include "lockstep/kernels/library/table.hpp"
#include "lockstep/kernels/naive/table.hpp"
#include "lockstep/kernels/simd/table.hpp"

namespace lockstep {

const std::vector<std::string>& backend_names() {
  static const std::vector<std::string> names = {"simd", "naive", "naive-o0", "library"};
  return names;
}

bool keeps_the_promise(Backend backend) { return backend != Backend::library; }

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
  }
  throw Error(ExitCode::bug, "unknown backend");
}

template KernelTable<float> make_table<float>(Backend);
template KernelTable<double> make_table<double>(Backend);

}  // namespace lockstep
