#pragma once
// Max and average pooling over windows of each channel.
//   x [channels*in_height*in_width, samples]   y [channels*out_height*out_width, samples]
// Taps of a window are visited in the order (ky, kx), ascending; taps in the padding are skipped.
// Outputs are overwritten and never read; they must not overlap inputs.

#include "lockstep/kernels/cost.hpp"
#include "lockstep/tensor/view.hpp"

namespace lockstep {

struct Pool2dGeometry {
  std::int64_t channels = 1, in_height = 1, in_width = 1;
  std::int64_t window_h = 1, window_w = 1;
  std::int64_t stride_h = 1, stride_w = 1;
  std::int64_t pad_h = 0, pad_w = 0;  // at most half the window, so that no window lies in the padding alone

  LOCKSTEP_INLINE constexpr std::int64_t out_height() const {
    return (in_height + 2 * pad_h - window_h) / stride_h + 1;
  }
  LOCKSTEP_INLINE constexpr std::int64_t out_width() const { return (in_width + 2 * pad_w - window_w) / stride_w + 1; }
};

/// y = the largest tap: best = tap > best ? tap : best, from the first tap of the window.
template <class T>
struct MaxPool2dForward {
  Pool2dGeometry geometry;
  ConstMatrix<T> x;
  Matrix<T> y;
};

/// Each window gives its dy to its first tap that equals y (the smallest index wins a tie).
/// Order: dx starts from 0 and adds the windows that cover it, (oy, ox) ascending.
template <class T>
struct MaxPool2dBackward {
  Pool2dGeometry geometry;
  ConstMatrix<T> x, y, dy;
  Matrix<T> dx;
};

/// y = (sum of the taps, from 0) * (1 / window area); the padding counts into the area, as zeros.
template <class T>
struct AvgPool2dForward {
  Pool2dGeometry geometry;
  ConstMatrix<T> x;
  Matrix<T> y;
};

/// Order: dx = (0 + dy of the windows that cover it, (oy, ox) ascending) * (1 / window area).
template <class T>
struct AvgPool2dBackward {
  Pool2dGeometry geometry;
  ConstMatrix<T> dy;
  Matrix<T> dx;
};

/// Taps in the padding are skipped and do not count.
constexpr Cost pool2d_cost(const Pool2dGeometry& g, std::int64_t samples, std::size_t scalar) {
  const double n = double(samples), out = double(g.channels * g.out_height() * g.out_width());
  const WindowAxis y{g.in_height, g.out_height(), g.window_h, g.stride_h, g.pad_h};
  const WindowAxis x{g.in_width, g.out_width(), g.window_w, g.stride_w, g.pad_w};
  return {.flops = n * double(g.channels) * double(y.taps_inside()) * double(x.taps_inside()),
          .bytes = double(scalar) * n * (double(g.channels * g.in_height * g.in_width) + out)};
}

}  // namespace lockstep
