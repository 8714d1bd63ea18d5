// Softmax: a vector of samples at a time goes down the features, so every sum is the naive chain. Limit: the
// polynomial of exp and one division per element; the columns of one vector stay in L1 between the three passes.

#include "lockstep/kernels/softmax.hpp"

#include "lockstep/kernels/simd/ops.hpp"

namespace lockstep::LOCKSTEP_SIMD {

template <class T>
void softmax_forward(const SoftmaxForward<T>& a, KernelContext&) {
  for_vectors<T>(0, a.y.cols, [&](std::int64_t c, const auto& end) LOCKSTEP_INLINE_LAMBDA {
    const Vec<T> largest = column_max(a.x, c, end);
    Vec<T> sum = zero<T>();
    for (std::int64_t k = 0; k < a.y.rows; ++k) {
      const Vec<T> e = math::exp(load(a.x.row(k) + c, end) - largest);
      store(a.y.row(k) + c, e, end);
      sum = sum + e;
    }
    for (std::int64_t k = 0; k < a.y.rows; ++k) store(a.y.row(k) + c, load(a.y.row(k) + c, end) / sum, end);
  });
}

template <class T>
void softmax_backward(const SoftmaxBackward<T>& a, KernelContext&) {
  for_vectors<T>(0, a.dx.cols, [&](std::int64_t c, const auto& end) LOCKSTEP_INLINE_LAMBDA {
    Vec<T> dot = zero<T>();
    for (std::int64_t k = 0; k < a.dx.rows; ++k) dot = fma(load(a.dy.row(k) + c, end), load(a.y.row(k) + c, end), dot);
    for (std::int64_t k = 0; k < a.dx.rows; ++k)
      store(a.dx.row(k) + c, load(a.y.row(k) + c, end) * (load(a.dy.row(k) + c, end) - dot), end);
  });
}

LOCKSTEP_SIMD_INSTANTIATE(softmax_forward, SoftmaxForward)
LOCKSTEP_SIMD_INSTANTIATE(softmax_backward, SoftmaxBackward)

}  // namespace lockstep::LOCKSTEP_SIMD
