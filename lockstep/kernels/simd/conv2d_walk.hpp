#pragma once
// What forward and data gradient of a convolution have in common: each destination pixel gets a chain over (channel,
// ky, kx) of the source; they differ in how taps and weights are walked.

#include "lockstep/kernels/conv2d.hpp"
#include "lockstep/kernels/simd/conv2d_taps.hpp"
#include "lockstep/kernels/simd/kernels.hpp"

namespace lockstep::LOCKSTEP_SIMD {

template <class T>
struct Correlation {
  Axis y, x;
  std::int64_t groups, dst_channels, src_channels;  // channels per group
  std::int64_t kernel_h, kernel_w;
  std::int64_t w_dst, w_src;  // steps through w per channel of the destination and of the source
  const T* w;
  const T* start;  // bias, or null: 0
  ConstMatrix<T> src;
  Matrix<T> dst;
  ConstMatrix<T> w_transposed{};  // [taps of a group, destination channels or more], or empty

  LOCKSTEP_INLINE std::int64_t src_plane() const { return y.source * x.source * src.stride; }
  LOCKSTEP_INLINE std::int64_t dst_plane() const { return y.size * x.size * dst.stride; }
  LOCKSTEP_INLINE const T* group_weights(std::int64_t group) const {
    return w + group * dst_channels * src_channels * kernel_h * kernel_w;
  }
  LOCKSTEP_INLINE const T* group_source(std::int64_t group) const {
    return src.data + group * src_channels * src_plane();
  }
};

template <class T>
LOCKSTEP_INLINE Correlation<T> correlation_of(const Conv2dForward<T>& a) {
  const Conv2dGeometry& g = a.geometry;
  return {.y = forward_axis(g.in_height, g.out_height(), g.kernel_h, g.stride_h, g.dilation_h, g.pad_h),
          .x = forward_axis(g.in_width, g.out_width(), g.kernel_w, g.stride_w, g.dilation_w, g.pad_w),
          .groups = g.groups,
          .dst_channels = g.out_per_group(),
          .src_channels = g.in_per_group(),
          .kernel_h = g.kernel_h,
          .kernel_w = g.kernel_w,
          .w_dst = g.in_per_group() * g.kernel_h * g.kernel_w,
          .w_src = g.kernel_h * g.kernel_w,
          .w = a.w,
          .start = a.b,
          .src = a.x,
          .dst = a.y,
          .w_transposed = a.w_transposed};
}

template <class T>
LOCKSTEP_INLINE Correlation<T> correlation_of(const Conv2dBackwardData<T>& a) {
  const Conv2dGeometry& g = a.geometry;
  return {.y = backward_axis(g.in_height, g.out_height(), g.kernel_h, g.stride_h, g.dilation_h, g.pad_h),
          .x = backward_axis(g.in_width, g.out_width(), g.kernel_w, g.stride_w, g.dilation_w, g.pad_w),
          .groups = g.groups,
          .dst_channels = g.in_per_group(),
          .src_channels = g.out_per_group(),
          .kernel_h = g.kernel_h,
          .kernel_w = g.kernel_w,
          .w_dst = g.kernel_h * g.kernel_w,
          .w_src = g.in_per_group() * g.kernel_h * g.kernel_w,
          .w = a.w,
          .start = nullptr,
          .src = a.dy,
          .dst = a.dx};
}

/// Lanes over destination channels, for a few samples (conv2d_few.cpp): the same chains, so the same bits.
template <class T>
void correlate_few(const Correlation<T>& c, KernelContext& context);

}  // namespace lockstep::LOCKSTEP_SIMD
