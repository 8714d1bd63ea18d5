// Linear forward for a few samples (predict): lanes over outputs instead of samples. Squares of w are transposed in
// registers, so that a vector holds one input's weights for a vector of outputs; inputs are broadcast. Each sum is the
// same chain as with lanes over samples, so the bits are the same.
//
// Tile: 4 vectors of outputs; the shuffles of one hide the latency of the others' chains. Limit: the shuffles, about
// one per two weights, or the memory that w comes from. Where the transposed weights are at hand there is nothing to
// shuffle: up to 8 vectors of outputs, enough chains for the fma units. Limit: the cache that the weights come from.

#include "lockstep/kernels/linear.hpp"
#include "lockstep/kernels/simd/kernels.hpp"
#include "lockstep/kernels/simd/tile.hpp"
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

/// Vectors of outputs side by side, so that about 8 chains are under way and all sums stay in registers.
template <int kSamples>
constexpr int kMostVecs = kSamples == 1             ? 8
                          : kSamples < kMostSamples ? 4
                                                    : 2;

/// Outputs [row, row + (kVecs - 1) * width + end.count) for kSamples samples from `col` on, from transposed weights.
template <int kVecs, int kSamples, class T>
LOCKSTEP_NOINLINE void few_transposed(const LinearForward<T>& a, std::int64_t row, std::int64_t col,
                                      const Tail<T>& end) {
  constexpr std::int64_t kWidth = Vec<T>::kWidth;
  const std::int64_t inputs = a.x.rows, w_stride = a.w_transposed.stride, x_stride = a.x.stride;
  const T *w = a.w_transposed.data + row, *x = a.x.data + col;
  Vec<T> sums[kSamples][kVecs];
#pragma GCC unroll 4
  for (int s = 0; s < kSamples; ++s)
#pragma GCC unroll 8
    for (int v = 0; v < kVecs; ++v)
      sums[s][v] = a.b == nullptr   ? zero<T>()
                   : v + 1 == kVecs ? load(a.b + row + v * kWidth, end)
                                    : load(a.b + row + v * kWidth);
  for (std::int64_t k = 0; k < inputs; ++k, w += w_stride, x += x_stride)
#pragma GCC unroll 8
    for (int v = 0; v < kVecs; ++v) {
      const Vec<T> weights = v + 1 == kVecs ? load(w + v * kWidth, end) : load(w + v * kWidth);
#pragma GCC unroll 4
      for (int s = 0; s < kSamples; ++s) sums[s][v] = fma(weights, broadcast(x[s]), sums[s][v]);
    }
  T lanes[kWidth];
#pragma GCC unroll 4
  for (int s = 0; s < kSamples; ++s)
#pragma GCC unroll 8
    for (int v = 0; v < kVecs; ++v) {
      store(lanes, sums[s][v]);
      const std::int64_t count = v + 1 == kVecs ? end.count : kWidth;
      for (std::int64_t r = 0; r < count; ++r) a.y(row + v * kWidth + r, col + s) = lanes[r];
    }
}

template <int kSamples, class T>
LOCKSTEP_INLINE void all_transposed(const LinearForward<T>& a, std::int64_t col) {
  constexpr std::int64_t kWidth = Vec<T>::kWidth, kBlock = kMostVecs<kSamples> * kWidth;
  for (std::int64_t row = 0; row < a.y.rows; row += kBlock) {
    const std::int64_t outputs = least(kBlock, a.y.rows - row), vecs = (outputs + kWidth - 1) / kWidth;
    const Tail<T> end = tail_of<T>(outputs - (vecs - 1) * kWidth);
    with_rows<kMostVecs<kSamples>>(vecs, [&]<int kVecs>() { few_transposed<kVecs, kSamples>(a, row, col, end); });
  }
}

}  // namespace

template <class T>
void linear_forward_transposed(const LinearForward<T>& a) {
  for (std::int64_t col = 0; col < a.y.cols;) {
    const std::int64_t samples = least(kMostSamples, a.y.cols - col);
    with_rows<kMostSamples>(samples, [&]<int kSamples>() { all_transposed<kSamples>(a, col); });
    col += samples;
  }
}

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

template void linear_forward_transposed<float>(const LinearForward<float>&);
template void linear_forward_transposed<double>(const LinearForward<double>&);
template std::int64_t linear_forward_few<float>(const LinearForward<float>&);
template std::int64_t linear_forward_few<double>(const LinearForward<double>&);

}  // namespace lockstep::LOCKSTEP_SIMD
