// OpenBLAS as the yardstick of matrix products.

#include <cmath>

#include "lockstep/core/aligned.hpp"
#include "lockstep/core/openblas.hpp"
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

std::optional<double> measure_openblas(Scalar scalar, int threads, std::int64_t size, double seconds) {
  const OpenBlas& blas = openblas();
  if (!blas.loaded()) return std::nullopt;
  blas.set_num_threads(threads);
  const double rate = scalar == Scalar::float32 ? measure<float>(blas.sgemm, size, seconds)
                                                : measure<double>(blas.dgemm, size, seconds);
  // Kernels, which use the library next, expect one thread per call.
  blas.set_num_threads(1);
  return rate;
}

std::string openblas_description() {
  const OpenBlas& blas = openblas();
  return blas.loaded() && blas.get_config != nullptr ? blas.get_config() : "";
}

}  // namespace lockstep
