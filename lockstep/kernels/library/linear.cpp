// Linear layers by OpenBLAS, one thread. The samples of a chunk are one matrix product, whatever its slots: sums
// over slots need no tree here, because their order is not promised.

#include "lockstep/kernels/linear.hpp"

#include <algorithm>
#include <limits>
#include <type_traits>

#include <fmt/format.h>

#include "lockstep/core/error.hpp"
#include "lockstep/core/openblas.hpp"
#include "lockstep/kernels/library/table.hpp"
#include "lockstep/kernels/simd/table.hpp"

namespace lockstep {

namespace {

/// Sizes of BLAS are int.
int blas_size(std::int64_t size) {
  if (size > std::numeric_limits<int>::max())
    throw Error(ErrorCode::resources, "backend library: a matrix is too large for OpenBLAS; use the backend simd");
  return static_cast<int>(size);
}

template <class T>
auto gemm_of(const OpenBlas& blas) {
  if constexpr (sizeof(T) == sizeof(float))
    return blas.sgemm;
  else
    return blas.dgemm;
}
template <class T>
auto gemv_of(const OpenBlas& blas) {
  if constexpr (sizeof(T) == sizeof(float))
    return blas.sgemv;
  else
    return blas.dgemv;
}

template <class T>
struct Factor {
  ConstMatrix<T> matrix;
  bool transposed = false;
};

/// c = a b + beta c. With beta = 0 what c held does not matter.
template <class T>
void multiply(const Factor<T>& a, const Factor<T>& b, T beta, Matrix<T> c) {
  const std::int64_t terms = a.transposed ? a.matrix.rows : a.matrix.cols;
  if (c.empty()) return;
  if (terms == 0) {
    for (std::int64_t r = 0; r < c.rows && beta == T(0); ++r) std::fill_n(c.row(r), c.cols, T(0));
    return;
  }
  const auto flag = [](const Factor<T>& f) { return f.transposed ? OpenBlas::kTranspose : OpenBlas::kNoTranspose; };
  gemm_of<T>(openblas())(OpenBlas::kRowMajor, flag(a), flag(b), blas_size(c.rows), blas_size(c.cols), blas_size(terms),
                         T(1), a.matrix.data, blas_size(a.matrix.stride), b.matrix.data, blas_size(b.matrix.stride),
                         beta, c.data, blas_size(c.stride));
}

template <class T>
void linear_forward(const LinearForward<T>& a, KernelContext&) {
  for (std::int64_t o = 0; o < a.y.rows && a.b != nullptr; ++o) std::fill_n(a.y.row(o), a.y.cols, a.b[o]);
  multiply<T>({a.w}, {a.x}, a.b != nullptr ? T(1) : T(0), a.y);
}

template <class T>
void linear_backward_data(const LinearBackwardData<T>& a, KernelContext&) {
  multiply<T>({a.w, true}, {a.dy}, T(0), a.dx);
}

template <class T>
void linear_backward_weights(const LinearBackwardWeights<T>& a, KernelContext& context) {
  multiply<T>({a.dy}, {a.x, true}, T(0), a.dw);
  if (a.db == nullptr || a.dy.rows == 0) return;
  std::fill_n(a.db, a.dy.rows, T(0));
  if (a.dy.cols == 0) return;
  T* const ones = context.scratch<T>(a.dy.cols);
  std::fill_n(ones, a.dy.cols, T(1));
  gemv_of<T>(openblas())(OpenBlas::kRowMajor, OpenBlas::kNoTranspose, blas_size(a.dy.rows), blas_size(a.dy.cols), T(1),
                         a.dy.data, blas_size(a.dy.stride), ones, 1, T(0), a.db, 1);
}

}  // namespace

void require_openblas(const OpenBlas& blas) {
  if (!blas.loaded())
    throw Error(
        ErrorCode::usage,
        fmt::format("backend library needs OpenBLAS, {}; install libopenblas0, or use the backend simd", blas.missing));
}

template <class T>
void add_openblas_kernels(KernelTable<T>& table) {
  require_openblas(openblas());
  table.linear_forward = {"openblas", &linear_forward<T>};
  table.linear_backward_data = {"openblas", &linear_backward_data<T>};
  table.linear_backward_weights = {"openblas", &linear_backward_weights<T>};
}

template void add_openblas_kernels<float>(KernelTable<float>&);
template void add_openblas_kernels<double>(KernelTable<double>&);

template <class T>
KernelTable<T> make_library_table() {
  KernelTable<T> table = make_simd_table<T>();
  table.backend = "library";
  add_openblas_kernels(table);
  // oneDNN computes in float32 and less, not in float64.
  if constexpr (std::is_same_v<T, float>) add_onednn_kernels(table);
  return table;
}

template KernelTable<float> make_library_table<float>();
template KernelTable<double> make_library_table<double>();

}  // namespace lockstep
