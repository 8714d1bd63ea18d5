#pragma once
// Two-dimensional convolution (cross-correlation, as in every deep-learning library), any channels, kernel, stride,
// padding, dilation, groups.
//   y[oc,oy,ox,s] = b[oc] + sum over ic, ky, kx of
//                   w[oc,ic,ky,kx] * x[first(oc)+ic, iy, ix, s]
//     with iy = oy*stride_h + ky*dilation_h - pad_h, ix = ox*stride_w + kx*dilation_w - pad_w
//   x [in_channels*in_height*in_width, samples]   w [out_channels, in_channels/groups, kernel_h, kernel_w]
//   b [out_channels] or null                      y [out_channels*out_height*out_width, samples]
// where first(oc) is the first input channel of oc's group. Taps that fall into the padding are skipped, not
// multiplied by zero. Outputs are overwritten and never read; they must not overlap inputs.

#include "lockstep/kernels/cost.hpp"
#include "lockstep/kernels/slots.hpp"
#include "lockstep/tensor/shape.hpp"
#include "lockstep/tensor/view.hpp"

namespace lockstep {

struct Conv2dGeometry {
  std::int64_t in_channels = 1, in_height = 1, in_width = 1;
  std::int64_t out_channels = 1;
  std::int64_t kernel_h = 1, kernel_w = 1;
  std::int64_t stride_h = 1, stride_w = 1;
  std::int64_t pad_h = 0, pad_w = 0;
  std::int64_t dilation_h = 1, dilation_w = 1;
  std::int64_t groups = 1;

  LOCKSTEP_INLINE constexpr std::int64_t out_height() const {
    return (in_height + 2 * pad_h - dilation_h * (kernel_h - 1) - 1) / stride_h + 1;
  }
  LOCKSTEP_INLINE constexpr std::int64_t out_width() const {
    return (in_width + 2 * pad_w - dilation_w * (kernel_w - 1) - 1) / stride_w + 1;
  }
  LOCKSTEP_INLINE constexpr std::int64_t in_per_group() const { return in_channels / groups; }
  LOCKSTEP_INLINE constexpr std::int64_t out_per_group() const { return out_channels / groups; }
};

/// Order: each y is one fma chain over (ic, ky, kx), ascending, from b (or 0): acc = fma(w, x, acc).
/// w_transposed [in_channels/groups*kernel_h*kernel_w, out_channels or more columns] holds the same weights or is
/// empty: a kernel reads whichever suits it. What more columns hold does not matter.
template <class T>
struct Conv2dForward {
  Conv2dGeometry geometry;
  ConstMatrix<T> x;
  const T* w = nullptr;
  const T* b = nullptr;
  Matrix<T> y;
  ConstMatrix<T> w_transposed{};
};

/// Order: each dx is one fma chain over (oc of its group, ky, kx), ascending, from 0: acc = fma(w, dy, acc).
template <class T>
struct Conv2dBackwardData {
  Conv2dGeometry geometry;
  const T* w = nullptr;
  ConstMatrix<T> dy;
  Matrix<T> dx;
};

/// dw and db, the sum over the slots of a chunk. Order: per slot 16 virtual lanes; lane l is one chain over (block,
/// oy, ox), ascending, from 0, where sample 16*block + l of the slot is its sample (fma(dy, x, acc) for dw, acc + dy
/// for db); then the lane tree; then the slot tree.
template <class T>
struct Conv2dBackwardWeights {
  Conv2dGeometry geometry;
  ConstMatrix<T> x, dy;
  Slots slots;
  T* dw = nullptr;
  T* db = nullptr;  // null: the layer has no bias
};

/// Taps in the padding are not computed and do not count. Forward, backward of the data and of the weights cost the
/// same: every pair of an output and a tap inside is one multiplication and one addition for each of them.
constexpr Cost conv2d_cost(const Conv2dGeometry& g, std::int64_t samples, std::size_t scalar) {
  const double n = double(samples), maps = double(g.out_channels * g.in_per_group());
  const double weights = maps * double(g.kernel_h * g.kernel_w), pixels = double(g.out_height() * g.out_width());
  const WindowAxis y{g.in_height, g.out_height(), g.kernel_h, g.stride_h, g.pad_h, g.dilation_h};
  const WindowAxis x{g.in_width, g.out_width(), g.kernel_w, g.stride_w, g.pad_w, g.dilation_w};
  return {.flops = 2 * maps * double(y.taps_inside()) * double(x.taps_inside()) * n,
          .bytes = double(scalar) * (double(g.in_channels * g.in_height * g.in_width) * n + weights +
                                     double(g.out_channels) * (1 + pixels * n))};
}

}  // namespace lockstep
