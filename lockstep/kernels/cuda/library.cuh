#pragma once
// cuBLAS, looked for at run time: the plugin starts without it, and only the backend cuda-library needs it. The few
// functions are declared here as the documentation of cuBLAS has them, with int for its enumerations, so that building
// the plugin does not need its headers either.

#include <string>

#include "lockstep/kernels/cuda/launch.cuh"
#include "lockstep/kernels/cuda/plugin.hpp"
#include "lockstep/kernels/cuda/shared_file.cuh"

#ifndef LOCKSTEP_CUBLAS_FILES
#define LOCKSTEP_CUBLAS_FILES "libcublas.so.13", "libcublas.so.12", "libcublas.so.11", "libcublas.so"
#endif

namespace lockstep::cuda {

class Library {
 public:
  /// True where cuBLAS is open; `why` says what is missing otherwise.
  bool open(cudaStream_t stream, std::string& why) {
    if (blas_ != nullptr) return true;
    void* const file = open_shared_file("LOCKSTEP_CUBLAS", {LOCKSTEP_CUBLAS_FILES}, why);
    if (file == nullptr) return false;
    std::string missing;
    if (!(find_function(file, create_, "cublasCreate_v2", missing) &&
          find_function(file, destroy_, "cublasDestroy_v2", missing) &&
          find_function(file, set_stream_, "cublasSetStream_v2", missing) &&
          find_function(file, sgemm_, "cublasSgemm_v2", missing) &&
          find_function(file, dgemm_, "cublasDgemm_v2", missing) &&
          find_function(file, sgeam_, "cublasSgeam", missing) && find_function(file, dgeam_, "cublasDgeam", missing))) {
      why = "the library has no " + missing;
      return false;
    }
    void* blas = nullptr;
    int status = create_(&blas);
    if (status == 0) status = set_stream_(blas, stream);
    if (status != 0) {
      why = "cublasCreate gives status " + std::to_string(status);
      return false;
    }
    blas_ = blas;
    return true;
  }

  /// 0, or the status of cuBLAS.
  int multiply(const CudaGemm& p) const {
    return p.is_double ? multiply<double>(dgemm_, p) : multiply<float>(sgemm_, p);
  }

  /// c (rows by columns, column-major) = the transpose of a. 0, or the status of cuBLAS.
  template <class T>
  int transpose(int rows, int columns, const T* a, int lda, T* c, int ldc) const {
    const T one = 1, zero = 0;
    // The second matrix counts nothing; c itself has the right shape.
    if constexpr (sizeof(T) == sizeof(double))
      return dgeam_(blas_, 1, 0, rows, columns, &one, a, lda, &zero, c, ldc, c, ldc);
    else
      return sgeam_(blas_, 1, 0, rows, columns, &one, a, lda, &zero, c, ldc, c, ldc);
  }

  void close() {
    if (blas_ != nullptr) destroy_(blas_);
    blas_ = nullptr;
  }

 private:
  template <class T>
  using Gemm = int (*)(void*, int, int, int, int, int, const T*, const T*, int, const T*, int, const T*, T*, int);

  template <class T>
  using Geam = int (*)(void*, int, int, int, int, const T*, const T*, int, const T*, const T*, int, T*, int);

  template <class T>
  int multiply(Gemm<T> gemm, const CudaGemm& p) const {
    const auto matrix = [](std::uint64_t address) {
      return reinterpret_cast<T*>(static_cast<std::uintptr_t>(address));
    };
    const T alpha = static_cast<T>(p.alpha), beta = static_cast<T>(p.beta);
    return gemm(blas_, p.transpose_a ? 1 : 0, p.transpose_b ? 1 : 0, p.m, p.n, p.k, &alpha, matrix(p.a), p.lda,
                matrix(p.b), p.ldb, &beta, matrix(p.c), p.ldc);
  }

  void* blas_ = nullptr;
  int (*create_)(void**) = nullptr;
  int (*destroy_)(void*) = nullptr;
  int (*set_stream_)(void*, cudaStream_t) = nullptr;
  Gemm<float> sgemm_ = nullptr;
  Gemm<double> dgemm_ = nullptr;
  Geam<float> sgeam_ = nullptr;
  Geam<double> dgeam_ = nullptr;
};

}  // namespace lockstep::cuda
