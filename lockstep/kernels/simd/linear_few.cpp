// Linear forward for a few samples (predict): lanes over outputs instead of samples. Squares of w are transposed in
// registers, so that a vector holds one input's weights for a vector of outputs; inputs are broadcast. Each sum is the
// same chain as with lanes over samples, so the bits are the same.
//
// Tile: 4 vectors of outputs; the shuffles of one hide the latency of the others' chains. Limit: the shuffles, about
// one per two weights, or the memory that w comes from.

#include "lockstep/kernels/linear.hpp"
#include "lockstep/kernels/simd/kernels.hpp"
#include "lockstep/kernels/simd/transpose.hpp"

namespace lockstep::LOCKSTEP_SIMD {

namespace {

constexpr int kMostSamples = 4;

/// Outputs [row, row + kVecs * width) for kSamples samples from `col` on.
template <int kVecs, int kSamples, class T>
LOCKSTEP_NOINLINE void few_outputs(const LinearForward<T>& a, std::int64_t row, std::int64_t col) {
  constexpr std::int64_t kWidth = Vec<T>::kWidth;
  const std::int64_t inputs = a.x.rows, w_stride = a.w.stride, x_stride = a.x.stride;
  const T *w = a.w.row(row), *x = a.x.data + col;
  Vec<T> sums[kSamples][kVecs];
#pragma GCC unroll 4
  for (int s = 0; s < kSamples; ++s)
#pragma GCC unroll 4
    for (int v = 0; v < kVecs; ++v) sums[s][v] = a.b == nullptr ? zero<T>() : load(a.b + row + v * kWidth);
  std::int64_t k = 0;
  for (; k + kWidth <= inputs; k += kWidth)
#pragma GCC unroll 4
    for (int v = 0; v < kVecs; ++v) {
      Vec<T> square[kWidth];
#pragma GCC unroll 16
      for (int r = 0; r < kWidth; ++r) square[r] = load(w + (v * kWidth + r) * w_stride + k);
      transpose(square);
#pragma GCC unroll 16
      for (int r = 0; r < kWidth; ++r)
#pragma GCC unroll 4
        for (int s = 0; s < kSamples; ++s)
          sums[s][v] = fma(square[r], broadcast(x[(k + r) * x_stride + s]), sums[s][v]);
    }
  for (; k < inputs; ++k)
    for (int v = 0; v < kVecs; ++v) {
      Vec<T> column = zero<T>();
      for (int r = 0; r < kWidth; ++r) column.v[r] = w[(v * kWidth + r) * w_stride + k];
      for (int s = 0; s < kSamples; ++s) sums[s][v] = fma(column, broadcast(x[k * x_stride + s]), sums[s][v]);
    }
  for (int s = 0; s < kSamples; ++s)
    for (int v = 0; v < kVecs; ++v)
      for (int r = 0; r < kWidth; ++r) a.y(row + v * kWidth + r, col + s) = sums[s][v].v[r];
}

template <int kSamples, class T>
LOCKSTEP_INLINE std::int64_t few_samples(const LinearForward<T>& a, std::int64_t col) {
  constexpr std::int64_t kWidth = Vec<T>::kWidth;
  std::int64_t row = 0;
  for (; row + 4 * kWidth <= a.y.rows; row += 4 * kWidth) few_outputs<4, kSamples>(a, row, col);
  for (; row + kWidth <= a.y.rows; row += kWidth) few_outputs<1, kSamples>(a, row, col);
  return row;
}

}  // namespace

template <class T>
std::int64_t linear_forward_few(const LinearForward<T>& a) {
  std::int64_t rows = 0;
  for (std::int64_t col = 0; col < a.y.cols;) {
    const std::int64_t samples = least(kMostSamples, a.y.cols - col);
    rows = samples == 1   ? few_samples<1>(a, col)
           : samples == 2 ? few_samples<2>(a, col)
           : samples == 3 ? few_samples<3>(a, col)
                          : few_samples<4>(a, col);
    col += samples;
  }
  return rows;
}

template std::int64_t linear_forward_few<float>(const LinearForward<float>&);
template std::int64_t linear_forward_few<double>(const LinearForward<double>&);

}  // namespace lockstep::LOCKSTEP_SIMD
