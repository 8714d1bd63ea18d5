#pragma once
// The register tile of the convolution's weight gradient: kOuts output channels by kTaps taps, one vector of samples.
// Both operands are vectors of samples, so each sum keeps its virtual lanes and no weight is broadcast. The taps are
// neighbours along kx (their pixels are shared from one output to the next) or along the input channels (1 wide).

#include "lockstep/kernels/simd/kernels.hpp"
#include "lockstep/kernels/simd/lanes.hpp"

namespace lockstep::LOCKSTEP_SIMD {

/// Taps [low, high) of the tile lie in the image at one output column.
struct TapRange {
  std::int32_t low, high;
};

template <class T>
struct GradientTile {
  const T *dy, *x;
  std::int64_t dy_row, dy_column, dy_out;        // steps to the next output row, column, channel
  std::int64_t x_row, x_column, x_tap;           // steps of the input pixel under tap 0, and to the next tap
  std::int64_t rows, columns, inner, outer;      // all taps lie in the image in columns [inner, outer)
  const TapRange* ranges;                        // of each column
  T* lanes;                                      // the sums, 16 lanes each
  std::int64_t lanes_out, lanes_tap;             // steps to the next output channel and tap
  std::int64_t repeats, x_repeat, lanes_repeat;  // the same for other inputs: how often, and their steps
  bool first;                                    // the sums start from 0; else they go on
};

namespace detail {

template <int kOuts, int kTaps, class T>
struct GradientSums {
  Vec<T> acc[kOuts][kTaps];
};

/// The taps [kLow, kHigh) of one pixel.
template <int kLow, int kHigh, int kOuts, int kTaps, class T>
LOCKSTEP_INLINE void pixel(GradientSums<kOuts, kTaps, T>& sums, const T* dy, std::int64_t dy_out, const T* x,
                           std::int64_t x_tap) {
  constexpr int kKept = kTaps == 1 ? 0 : kRegisters - 1 - kOuts * kTaps;  // the others are loaded by each fma
  Vec<T> g[kOuts];
#pragma GCC unroll 12
  for (int o = 0; o < kOuts; ++o) {
    g[o] = load(dy + o * dy_out);
    if (o < kKept) keep_in_register(g[o]);
  }
#pragma GCC unroll 12
  for (int t = kLow; t < kHigh; ++t) {
    Vec<T> v = load(x + t * x_tap);
    keep_in_register(v);
#pragma GCC unroll 12
    for (int o = 0; o < kOuts; ++o) sums.acc[o][t] = fma(g[o], v, sums.acc[o][t]);
  }
}

/// A pixel at the left or right end of a row: [low, kTaps) or [0, high).
template <int kCut, int kOuts, int kTaps, class T>
LOCKSTEP_INLINE void end_pixel(GradientSums<kOuts, kTaps, T>& sums, const TapRange& range, const T* dy,
                               std::int64_t dy_out, const T* x, std::int64_t x_tap) {
  if constexpr (kCut < kTaps) {
    if (range.low == kCut && range.high == kTaps)
      pixel<kCut, kTaps>(sums, dy, dy_out, x, x_tap);
    else if (range.low == 0 && range.high == kCut)
      pixel<0, kCut>(sums, dy, dy_out, x, x_tap);
    else
      end_pixel<kCut + 1>(sums, range, dy, dy_out, x, x_tap);
  }
}

/// Any range: an image narrower than the kernel.
template <int kTap, int kOuts, int kTaps, class T>
LOCKSTEP_INLINE void narrow_pixel(GradientSums<kOuts, kTaps, T>& sums, const TapRange& range, const T* dy,
                                  std::int64_t dy_out, const T* x, std::int64_t x_tap) {
  if constexpr (kTap < kTaps) {
    if (range.low <= kTap && kTap < range.high) pixel<kTap, kTap + 1>(sums, dy, dy_out, x, x_tap);
    narrow_pixel<kTap + 1>(sums, range, dy, dy_out, x, x_tap);
  }
}

}  // namespace detail

/// The tile's sums over its rows and columns, for one group of inputs after the other.
template <int kOuts, int kTaps, class T>
LOCKSTEP_NOINLINE void gradient_tile(const GradientTile<T>& tile) {
  const GradientTile<T> t = tile;
  const T* x_begin = t.x;
  T* lanes = t.lanes;
  for (std::int64_t repeat = 0; repeat < t.repeats; ++repeat, x_begin += t.x_repeat, lanes += t.lanes_repeat) {
    detail::GradientSums<kOuts, kTaps, T> sums;
#pragma GCC unroll 12
    for (int o = 0; o < kOuts; ++o)
#pragma GCC unroll 12
      for (int k = 0; k < kTaps; ++k)
        sums.acc[o][k] = t.first ? zero<T>() : load(lanes + o * t.lanes_out + k * t.lanes_tap);
    for (std::int64_t row = 0; row < t.rows; ++row) {
      const T *dy = t.dy + row * t.dy_row, *x = x_begin + row * t.x_row;
      const auto ends = [&](std::int64_t from, std::int64_t to) LOCKSTEP_INLINE_LAMBDA {
        for (std::int64_t c = from; c < to; ++c, dy += t.dy_column, x += t.x_column) {
          const TapRange range = t.ranges[c];
          if (range.low > 0 && range.high < kTaps)
            detail::narrow_pixel<0>(sums, range, dy, t.dy_out, x, t.x_tap);
          else
            detail::end_pixel<1>(sums, range, dy, t.dy_out, x, t.x_tap);
        }
      };
      ends(0, t.inner);
      for (std::int64_t c = t.inner; c < t.outer; ++c, dy += t.dy_column, x += t.x_column)
        detail::pixel<0, kTaps>(sums, dy, t.dy_out, x, t.x_tap);
      ends(t.outer, t.columns);
    }
#pragma GCC unroll 12
    for (int o = 0; o < kOuts; ++o)
#pragma GCC unroll 12
      for (int k = 0; k < kTaps; ++k) store(lanes + o * t.lanes_out + k * t.lanes_tap, sums.acc[o][k]);
  }
}

}  // namespace lockstep::LOCKSTEP_SIMD
