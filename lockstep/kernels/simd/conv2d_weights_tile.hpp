#pragma once
// The register tile of the convolution's weight gradient: kOuts output channels by kTaps taps of kIns input channels,
// one vector of samples. Both operands are vectors of samples, so each sum keeps its virtual lanes and no weight is
// broadcast. The taps are neighbours along kx (their pixels are shared from one output to the next) or along the input
// channels (1 wide).

#include "lockstep/kernels/simd/kernels.hpp"
#include "lockstep/kernels/simd/lane_folds.hpp"

namespace lockstep::LOCKSTEP_SIMD {

/// Taps [low, high) of the tile lie in the image at one output column.
struct TapRange {
  std::int32_t low, high;
};

template <class T>
struct GradientTile {
  const T *dy, *x;
  std::int64_t dy_row, dy_column, dy_out;        // steps to the next output row, column, channel
  std::int64_t x_row, x_column, x_tap, x_in;     // steps of the input pixel under tap 0; to the next tap, and channel
  std::int64_t rows, columns, inner, outer;      // all taps lie in the image in columns [inner, outer)
  const TapRange* ranges;                        // of each column
  T* lanes;                                      // the sums, 16 lanes each
  std::int64_t lanes_out, lanes_tap, lanes_in;   // steps to the next output channel, tap and input channel
  std::int64_t repeats, x_repeat, lanes_repeat;  // the same for other inputs: how often, and their steps
  bool first;                                    // the sums start from 0; else they go on
};

namespace detail {

template <int kOuts, int kIns, int kTaps, class T>
struct GradientSums {
  Vec<T> acc[kOuts][kIns][kTaps];
};

/// From one output channel, input channel and tap to the next, at one pixel.
struct PixelSteps {
  std::int64_t dy_out, x_in, x_tap;
};

/// The taps [kLow, kHigh) of one pixel.
template <int kLow, int kHigh, int kOuts, int kIns, int kTaps, class T>
LOCKSTEP_INLINE void pixel(GradientSums<kOuts, kIns, kTaps, T>& sums, const PixelSteps& steps, const T* dy,
                           const T* x) {
  // The others are loaded by each fma.
  constexpr int kKept = kTaps == 1 ? 0 : kRegisters - 1 - kOuts * kIns * kTaps;
  Vec<T> g[kOuts];
#pragma GCC unroll 12
  for (int o = 0; o < kOuts; ++o) {
    g[o] = load(dy + o * steps.dy_out);
    if (o < kKept) keep_in_register(g[o]);
  }
#pragma GCC unroll 2
  for (int i = 0; i < kIns; ++i)
#pragma GCC unroll 12
    for (int t = kLow; t < kHigh; ++t) {
      Vec<T> v = load(x + i * steps.x_in + t * steps.x_tap);
      keep_in_register(v);
#pragma GCC unroll 12
      for (int o = 0; o < kOuts; ++o) sums.acc[o][i][t] = fma(g[o], v, sums.acc[o][i][t]);
    }
}

/// A pixel at the left or right end of a row: [low, kTaps) or [0, high).
template <int kCut, int kOuts, int kIns, int kTaps, class T>
LOCKSTEP_INLINE void end_pixel(GradientSums<kOuts, kIns, kTaps, T>& sums, const TapRange& range,
                               const PixelSteps& steps, const T* dy, const T* x) {
  if constexpr (kCut < kTaps) {
    if (range.low == kCut && range.high == kTaps)
      pixel<kCut, kTaps>(sums, steps, dy, x);
    else if (range.low == 0 && range.high == kCut)
      pixel<0, kCut>(sums, steps, dy, x);
    else
      end_pixel<kCut + 1>(sums, range, steps, dy, x);
  }
}

/// Any range: an image narrower than the kernel.
template <int kTap, int kOuts, int kIns, int kTaps, class T>
LOCKSTEP_INLINE void narrow_pixel(GradientSums<kOuts, kIns, kTaps, T>& sums, const TapRange& range,
                                  const PixelSteps& steps, const T* dy, const T* x) {
  if constexpr (kTap < kTaps) {
    if (range.low <= kTap && kTap < range.high) pixel<kTap, kTap + 1>(sums, steps, dy, x);
    narrow_pixel<kTap + 1>(sums, range, steps, dy, x);
  }
}

/// The upper levels of the lane trees, four output channels in a vector.
template <int kOuts, int kIns, int kTaps, class T>
LOCKSTEP_INLINE void store_folded(const GradientSums<kOuts, kIns, kTaps, T>& sums, const GradientTile<T>& t, T* lanes) {
#pragma GCC unroll 12
  for (int o = 0; o < kOuts; o += kFolded)
#pragma GCC unroll 2
    for (int i = 0; i < kIns; ++i)
#pragma GCC unroll 12
      for (int k = 0; k < kTaps; ++k) {
        const auto sum = [&](int c) LOCKSTEP_INLINE_LAMBDA { return sums.acc[c < kOuts ? c : o][i][k]; };
        store(lanes + o / kFolded * t.lanes_out + i * t.lanes_in + k * t.lanes_tap,
              fold_upper(sum(o), sum(o + 1), sum(o + 2), sum(o + 3)));
      }
}

/// run(o, i, k, where its lanes are) for every sum of the tile.
template <int kOuts, int kIns, int kTaps, class T, class Run>
LOCKSTEP_INLINE void for_sums(const GradientTile<T>& t, T* lanes, const Run& run) {
#pragma GCC unroll 12
  for (int o = 0; o < kOuts; ++o)
#pragma GCC unroll 2
    for (int i = 0; i < kIns; ++i)
#pragma GCC unroll 12
      for (int k = 0; k < kTaps; ++k) run(o, i, k, lanes + o * t.lanes_out + i * t.lanes_in + k * t.lanes_tap);
}

}  // namespace detail

/// The tile's sums over its rows and columns, for one group of inputs after the other. kFold: the sums start and end
/// here, and four output channels share a vector (lane_folds.hpp); lanes_out is the step from four to four of them.
template <int kOuts, int kIns, int kTaps, bool kFold, class T>
LOCKSTEP_NOINLINE void gradient_tile(const GradientTile<T>& tile) {
  const GradientTile<T> t = tile;
  const detail::PixelSteps steps = {t.dy_out, t.x_in, t.x_tap};
  const T* x_begin = t.x;
  T* lanes = t.lanes;
  for (std::int64_t repeat = 0; repeat < t.repeats; ++repeat, x_begin += t.x_repeat, lanes += t.lanes_repeat) {
    detail::GradientSums<kOuts, kIns, kTaps, T> sums;
    detail::for_sums<kOuts, kIns, kTaps>(t, lanes, [&](int o, int i, int k, const T* from) LOCKSTEP_INLINE_LAMBDA {
      sums.acc[o][i][k] = kFold || t.first ? zero<T>() : load(from);
    });
    for (std::int64_t row = 0; row < t.rows; ++row) {
      const T *dy = t.dy + row * t.dy_row, *x = x_begin + row * t.x_row;
      const auto ends = [&](std::int64_t from, std::int64_t to) LOCKSTEP_INLINE_LAMBDA {
        for (std::int64_t c = from; c < to; ++c, dy += t.dy_column, x += t.x_column) {
          const TapRange range = t.ranges[c];
          if (range.low > 0 && range.high < kTaps)
            detail::narrow_pixel<0>(sums, range, steps, dy, x);
          else
            detail::end_pixel<1>(sums, range, steps, dy, x);
        }
      };
      ends(0, t.inner);
      for (std::int64_t c = t.inner; c < t.outer; ++c, dy += t.dy_column, x += t.x_column)
        detail::pixel<0, kTaps>(sums, steps, dy, x);
      ends(t.outer, t.columns);
    }
    if constexpr (kFold)
      detail::store_folded(sums, t, lanes);
    else
      detail::for_sums<kOuts, kIns, kTaps>(
          t, lanes, [&](int o, int i, int k, T* to) LOCKSTEP_INLINE_LAMBDA { store(to, sums.acc[o][i][k]); });
  }
}

}  // namespace lockstep::LOCKSTEP_SIMD
