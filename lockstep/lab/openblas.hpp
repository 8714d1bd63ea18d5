#pragma once
// OpenBLAS, loaded at run time: it is optional, and a program that does not use it does not start its threads.

#include <string>

namespace lockstep {

/// The functions we use of it, with the types of Debian's cblas.h, whose integers are int. All null where the library
/// cannot be loaded.
struct OpenBlas {
  template <class T>
  using Gemm = void (*)(int order, int trans_a, int trans_b, int m, int n, int k, T alpha, const T* a, int lda,
                        const T* b, int ldb, T beta, T* c, int ldc);
  template <class T>
  using Gemv = void (*)(int order, int trans, int m, int n, T alpha, const T* a, int lda, const T* x, int incx, T beta,
                        T* y, int incy);
  static constexpr int kRowMajor = 101, kNoTranspose = 111, kTranspose = 112;

  void (*set_num_threads)(int) = nullptr;
  char* (*get_config)() = nullptr;
  Gemm<float> sgemm = nullptr;
  Gemm<double> dgemm = nullptr;
  Gemv<float> sgemv = nullptr;
  Gemv<double> dgemv = nullptr;

  std::string missing{};  // why it is not loaded: "which this machine lacks"

  bool loaded() const {
    return set_num_threads != nullptr && sgemm != nullptr && dgemm != nullptr && sgemv != nullptr && dgemv != nullptr;
  }
};

/// Loads a library by its file name; it stays loaded, because its threads do not survive dlclose.
OpenBlas load_openblas(const char* file);

/// libopenblas.so.0, loaded on the first call, with one thread per call. A caller that sets more threads restores one.
const OpenBlas& openblas();

}  // namespace lockstep
