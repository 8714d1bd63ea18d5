// OpenBLAS as the yardstick of matrix products.

#include "lockstep/lab/openblas.hpp"

#include <cmath>

#include "lockstep/core/aligned.hpp"
#include "lockstep/core/plugin.hpp"
#include "lockstep/lab/peak.hpp"
#include "lockstep/lab/together.hpp"

namespace lockstep {

namespace {

template <class T>
double measure(OpenBlas::Gemm<T> gemm, std::int64_t size, double seconds) {
  const int n = static_cast<int>(size);
  AlignedBuffer<T> a(size * size), b(size * size), c(size * size);
  for (std::int64_t i = 0; i < size * size; ++i) {
    a[i] = T(i % 7) - T(3);
    b[i] = T(i % 5) - T(2);
  }
  const double time = best_time_together(1, 3, seconds, [&](int) {
    gemm(OpenBlas::kRowMajor, OpenBlas::kNoTranspose, OpenBlas::kNoTranspose, n, n, n, T(1), a.data(), n, b.data(), n,
         T(0), c.data(), n);
  });
  return 2 * std::pow(double(size), 3) / time;
}

}  // namespace

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

std::optional<double> measure_openblas(Scalar scalar, int threads, std::int64_t size, double seconds) {
  const OpenBlas& blas = openblas();
  if (!blas.loaded()) return std::nullopt;
  blas.set_num_threads(threads);
  const double rate = scalar == Scalar::float32 ? measure<float>(blas.sgemm, size, seconds)
                                                : measure<double>(blas.dgemm, size, seconds);
  // Kernels call the library with one thread per slot.
  blas.set_num_threads(1);
  return rate;
}

std::string openblas_description() {
  const OpenBlas& blas = openblas();
  return blas.loaded() && blas.get_config != nullptr ? blas.get_config() : "";
}

}  // namespace lockstep
