// The calls of cuBLAS that the backend cuda-library makes: column-major products on device memory, in stream order.
// OpenBLAS computes them where it is installed, plain loops where it is not.

#include <dlfcn.h>

#include "cuda_runtime.h"
#include "memory.hpp"
#include "streams.hpp"

namespace {

constexpr int kSuccess = 0, kInvalidValue = 7, kColumnMajor = 102, kNoTranspose = 111, kTranspose = 112;

struct Handle {
  cudaStream_t stream = nullptr;
};

template <class T>
struct Product {
  bool transpose_a, transpose_b;
  int m, n, k;
  T alpha;
  const T* a;
  int lda;
  const T* b;
  int ldb;
  T beta;
  T* c;
  int ldc;
};

template <class T>
using Gemm = void (*)(int, int, int, int, int, int, T, const T*, int, const T*, int, T, T*, int);

void* openblas(const char* name) {
  static void* const library = ::dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  return library == nullptr ? nullptr : ::dlsym(library, name);
}

template <class T>
void multiply(const Product<T>& p, const char* name) {
  if (const auto gemm = reinterpret_cast<Gemm<T>>(openblas(name)); gemm != nullptr) {
    gemm(kColumnMajor, p.transpose_a ? kTranspose : kNoTranspose, p.transpose_b ? kTranspose : kNoTranspose, p.m, p.n,
         p.k, p.alpha, p.a, p.lda, p.b, p.ldb, p.beta, p.c, p.ldc);
    return;
  }
  for (int j = 0; j < p.n; ++j)
    for (int i = 0; i < p.m; ++i) {
      T sum = 0;
      for (int l = 0; l < p.k; ++l)
        sum += p.a[p.transpose_a ? l + std::ptrdiff_t(i) * p.lda : i + std::ptrdiff_t(l) * p.lda] *
               p.b[p.transpose_b ? j + std::ptrdiff_t(l) * p.ldb : l + std::ptrdiff_t(j) * p.ldb];
      T& c = p.c[i + std::ptrdiff_t(j) * p.ldc];
      c = p.alpha * sum + (p.beta == 0 ? T(0) : p.beta * c);
    }
}

/// The kernel's address of a column-major matrix on the device, or null.
template <class T>
T* matrix(const T* address, int rows, int columns, int stride) {
  if (rows == 0 || columns == 0) return const_cast<T*>(address);
  const std::size_t count = std::size_t(stride) * std::size_t(columns - 1) + std::size_t(rows);
  return static_cast<T*>(cuda_emulator::device_bytes(address, count * sizeof(T)));
}

template <class T>
int start(void* handle, Product<T> p, const char* name) {
  const auto lock = cuda_emulator::lock_emulator();
  p.a = p.transpose_a ? matrix(p.a, p.k, p.m, p.lda) : matrix(p.a, p.m, p.k, p.lda);
  p.b = p.transpose_b ? matrix(p.b, p.n, p.k, p.ldb) : matrix(p.b, p.k, p.n, p.ldb);
  p.c = matrix(p.c, p.m, p.n, p.ldc);
  if (p.a == nullptr || p.b == nullptr || p.c == nullptr) return kInvalidValue;
  cuda_emulator::enqueue(static_cast<Handle*>(handle)->stream, [p, name] { multiply(p, name); });
  return kSuccess;
}

/// c = op(a), the only use we have for geam: alpha 1 and beta 0.
template <class T>
int start_copy(void* handle, bool transposed, int m, int n, T alpha, const T* a, int lda, T beta, T* c, int ldc) {
  const auto lock = cuda_emulator::lock_emulator();
  const T* const from = transposed ? matrix(a, n, m, lda) : matrix(a, m, n, lda);
  T* const to = matrix(c, m, n, ldc);
  if (from == nullptr || to == nullptr || alpha != 1 || beta != 0) return kInvalidValue;
  if (lda < (transposed ? n : m) || ldc < m) return kInvalidValue;
  cuda_emulator::enqueue(static_cast<Handle*>(handle)->stream, [=] {
    for (std::ptrdiff_t j = 0; j < n; ++j)
      for (std::ptrdiff_t i = 0; i < m; ++i) to[i + j * ldc] = transposed ? from[j + i * lda] : from[i + j * lda];
  });
  return kSuccess;
}

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): names of cuBLAS
extern "C" {

int cublasCreate_v2(void** handle) {
  *handle = new Handle;
  return kSuccess;
}

int cublasDestroy_v2(void* handle) {
  delete static_cast<Handle*>(handle);
  return kSuccess;
}

int cublasSetStream_v2(void* handle, cudaStream_t stream) {
  static_cast<Handle*>(handle)->stream = stream;
  return kSuccess;
}

int cublasSgemm_v2(void* handle, int ta, int tb, int m, int n, int k, const float* alpha, const float* a, int lda,
                   const float* b, int ldb, const float* beta, float* c, int ldc) {
  return start<float>(handle, {ta != 0, tb != 0, m, n, k, *alpha, a, lda, b, ldb, *beta, c, ldc}, "cblas_sgemm");
}

int cublasDgemm_v2(void* handle, int ta, int tb, int m, int n, int k, const double* alpha, const double* a, int lda,
                   const double* b, int ldb, const double* beta, double* c, int ldc) {
  return start<double>(handle, {ta != 0, tb != 0, m, n, k, *alpha, a, lda, b, ldb, *beta, c, ldc}, "cblas_dgemm");
}

int cublasSgeam(void* handle, int ta, int, int m, int n, const float* alpha, const float* a, int lda, const float* beta,
                const float*, int, float* c, int ldc) {
  return start_copy<float>(handle, ta != 0, m, n, *alpha, a, lda, *beta, c, ldc);
}

int cublasDgeam(void* handle, int ta, int, int m, int n, const double* alpha, const double* a, int lda,
                const double* beta, const double*, int, double* c, int ldc) {
  return start_copy<double>(handle, ta != 0, m, n, *alpha, a, lda, *beta, c, ldc);
}
}
// NOLINTEND(readability-identifier-naming)
