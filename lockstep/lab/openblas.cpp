// OpenBLAS as the yardstick of matrix products. It is looked for at run time, so that nobody needs it.

#include <dlfcn.h>

#include <cmath>

#include "lockstep/core/aligned.hpp"
#include "lockstep/lab/peak.hpp"
#include "lockstep/lab/together.hpp"

namespace lockstep {

namespace {

// Of cblas.h, whose integers are int in Debian's build.
constexpr int kRowMajor = 101, kNoTranspose = 111;

template <class T>
using Gemm = void (*)(int order, int trans_a, int trans_b, int m, int n, int k, T alpha, const T* a, int lda,
                      const T* b, int ldb, T beta, T* c, int ldc);

/// The library and the functions we use of it; it stays loaded, because its threads do not survive dlclose.
struct OpenBlas {
  void (*set_num_threads)(int) = nullptr;
  char* (*get_config)() = nullptr;
  Gemm<float> sgemm = nullptr;
  Gemm<double> dgemm = nullptr;

  bool loaded() const { return set_num_threads != nullptr && sgemm != nullptr && dgemm != nullptr; }
};

OpenBlas load() {
  OpenBlas blas;
  void* const library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return blas;
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(library, name));
  };
  find(blas.set_num_threads, "openblas_set_num_threads");
  find(blas.get_config, "openblas_get_config");
  find(blas.sgemm, "cblas_sgemm");
  find(blas.dgemm, "cblas_dgemm");
  return blas;
}

const OpenBlas& openblas() {
  static const OpenBlas blas = load();
  return blas;
}

template <class T>
double measure(Gemm<T> gemm, std::int64_t size, double seconds) {
  const int n = static_cast<int>(size);
  AlignedBuffer<T> a(size * size), b(size * size), c(size * size);
  for (std::int64_t i = 0; i < size * size; ++i) {
    a[i] = T(i % 7) - T(3);
    b[i] = T(i % 5) - T(2);
  }
  const double time = best_time_together(1, 3, seconds, [&](int) {
    gemm(kRowMajor, kNoTranspose, kNoTranspose, n, n, n, T(1), a.data(), n, b.data(), n, T(0), c.data(), n);
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
  // Whoever uses the library next (one thread per slot) finds it as kernels expect it.
  blas.set_num_threads(1);
  return rate;
}

std::string openblas_description() {
  const OpenBlas& blas = openblas();
  return blas.loaded() && blas.get_config != nullptr ? blas.get_config() : "";
}

}  // namespace lockstep
