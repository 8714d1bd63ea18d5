#include "lockstep/core/openblas.hpp"

#include <type_traits>

#include "lockstep/core/plugin.hpp"

namespace lockstep {

OpenBlas load_openblas(const char* file) {
  OpenBlas blas;
  const SharedLibrary library = open_library(file);
  blas.missing = library.handle == nullptr ? library.why_not() : "";
  if (library.handle == nullptr) return blas;
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::decay_t<decltype(function)>>(library.find(name));
  };
  find(blas.set_num_threads, "openblas_set_num_threads");
  find(blas.get_config, "openblas_get_config");
  find(blas.sgemm, "cblas_sgemm");
  find(blas.dgemm, "cblas_dgemm");
  find(blas.sgemv, "cblas_sgemv");
  find(blas.dgemv, "cblas_dgemv");
  if (blas.loaded())
    blas.set_num_threads(1);
  else
    blas.missing = "which lacks functions that are needed";
  return blas;
}

const OpenBlas& openblas() {
  static const OpenBlas blas = load_openblas("libopenblas.so.0");
  return blas;
}

}  // namespace lockstep
