// Linear layers by cuBLAS: what to compare with, to a tolerance.

#include <limits>

#include "lockstep/core/error.hpp"
#include "lockstep/kernels/cuda/cuda.hpp"
#include "lockstep/kernels/cuda/plugin.hpp"
#include "lockstep/kernels/device/table.hpp"

namespace lockstep {

namespace {

/// Sizes of cuBLAS are int.
std::int32_t blas_size(std::int64_t size) {
  if (size > std::numeric_limits<std::int32_t>::max())
    throw Error(ErrorCode::resources, "backend cuda-library: a matrix is too large for cuBLAS; use the backend cuda");
  return static_cast<std::int32_t>(size);
}

template <class T>
struct Factor {
  ConstMatrix<T> matrix;
  bool transposed = false;
};

/// c = a b + beta c, row-major: for cuBLAS, which is column-major, all three are transposed, and so c' = b' a'.
template <class T>
void multiply(Device& device, const Factor<T>& a, const Factor<T>& b, double beta, Matrix<T> c) {
  const std::int64_t terms = a.transposed ? a.matrix.rows : a.matrix.cols;
  if (c.empty()) return;
  if (terms == 0) {
    for (std::int64_t r = 0; r < c.rows && beta == 0; ++r)
      device.zero(c.row(r), c.cols * static_cast<std::int64_t>(sizeof(T)));
    return;
  }
  const auto address = [](const T* pointer) { return reinterpret_cast<std::uint64_t>(pointer); };
  cublas_gemm(device, {.is_double = sizeof(T) == sizeof(double),
                       .transpose_a = b.transposed,
                       .transpose_b = a.transposed,
                       .m = blas_size(c.cols),
                       .n = blas_size(c.rows),
                       .k = blas_size(terms),
                       .lda = blas_size(b.matrix.stride),
                       .ldb = blas_size(a.matrix.stride),
                       .ldc = blas_size(c.stride),
                       .alpha = 1,
                       .beta = beta,
                       .a = address(b.matrix.data),
                       .b = address(a.matrix.data),
                       .c = address(c.data)});
}

template <class T>
void linear_forward(const LinearForward<T>& a, KernelContext& context) {
  // Our own kernel with no inputs at all writes the bias.
  if (a.b != nullptr && !a.y.empty()) {
    LinearForward<T> bias = a;
    bias.x.rows = bias.w.cols = 0;
    if (!bias.w_transposed.empty()) bias.w_transposed.rows = 0;
    own_cuda_kernels<T>().linear_forward(bias, context);
  }
  multiply<T>(context.device(), {a.w}, {a.x}, a.b != nullptr ? 1 : 0, a.y);
}

template <class T>
void linear_backward_data(const LinearBackwardData<T>& a, KernelContext& context) {
  multiply<T>(context.device(), {a.w, true}, {a.dy}, 0, a.dx);
}

template <class T>
void linear_backward_weights(const LinearBackwardWeights<T>& a, KernelContext& context) {
  multiply<T>(context.device(), {a.dy}, {a.x, true}, 0, a.dw);
  if (a.db == nullptr) return;
  // Our own kernel with no inputs sums only the bias.
  LinearBackwardWeights<T> bias = a;
  bias.x.rows = bias.dw.cols = 0;
  own_cuda_kernels<T>().linear_backward_weights(bias, context);
}

}  // namespace

template <class T>
const KernelTable<T>& own_cuda_kernels() {
  static const KernelTable<T> table = make_device_table<T>("cuda");
  return table;
}

template <class T>
void add_cublas_kernels(KernelTable<T>& table) {
  table.linear_forward = {"cublas", &linear_forward<T>};
  table.linear_backward_data = {"cublas", &linear_backward_data<T>};
  table.linear_backward_weights = {"cublas", &linear_backward_weights<T>};
}

template const KernelTable<float>& own_cuda_kernels<float>();
template const KernelTable<double>& own_cuda_kernels<double>();
template void add_cublas_kernels<float>(KernelTable<float>&);
template void add_cublas_kernels<double>(KernelTable<double>&);

}  // namespace lockstep
