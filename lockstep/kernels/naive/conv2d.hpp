#pragma once
#include "lockstep/kernels/conv2d.hpp"
#include "lockstep/kernels/naive/lanes.hpp"
#include "lockstep/kernels/naive/variant.hpp"

namespace lockstep::LOCKSTEP_NAIVE {

LOCKSTEP_INLINE bool inside(std::int64_t i, std::int64_t size) { return i >= 0 && i < size; }

template <class T>
void conv2d_forward(const Conv2dForward<T>& a) {
  const Conv2dGeometry& g = a.geometry;
  for (std::int64_t oc = 0; oc < g.out_channels; ++oc)
    for (std::int64_t oy = 0; oy < g.out_height(); ++oy)
      for (std::int64_t ox = 0; ox < g.out_width(); ++ox)
        for (std::int64_t s = 0; s < a.y.cols; ++s) {
          T sum = a.b ? a.b[oc] : T(0);
          for (std::int64_t ic = 0; ic < g.in_per_group(); ++ic)
            for (std::int64_t ky = 0; ky < g.kernel_h; ++ky)
              for (std::int64_t kx = 0; kx < g.kernel_w; ++kx) {
                const std::int64_t channel = oc / g.out_per_group() * g.in_per_group() + ic;
                const std::int64_t iy = oy * g.stride_h + ky * g.dilation_h - g.pad_h;
                const std::int64_t ix = ox * g.stride_w + kx * g.dilation_w - g.pad_w;
                if (!inside(iy, g.in_height) || !inside(ix, g.in_width)) continue;
                const T w = a.w[((oc * g.in_per_group() + ic) * g.kernel_h + ky) * g.kernel_w + kx];
                sum = fma(w, a.x((channel * g.in_height + iy) * g.in_width + ix, s), sum);
              }
          a.y((oc * g.out_height() + oy) * g.out_width() + ox, s) = sum;
        }
}

template <class T>
void conv2d_backward_data(const Conv2dBackwardData<T>& a) {
  const Conv2dGeometry& g = a.geometry;
  for (std::int64_t channel = 0; channel < g.in_channels; ++channel)
    for (std::int64_t iy = 0; iy < g.in_height; ++iy)
      for (std::int64_t ix = 0; ix < g.in_width; ++ix)
        for (std::int64_t s = 0; s < a.dx.cols; ++s) {
          const std::int64_t group = channel / g.in_per_group(), ic = channel % g.in_per_group();
          T sum = T(0);
          for (std::int64_t oc = group * g.out_per_group(); oc < (group + 1) * g.out_per_group(); ++oc)
            for (std::int64_t ky = 0; ky < g.kernel_h; ++ky)
              for (std::int64_t kx = 0; kx < g.kernel_w; ++kx) {
                // the output pixel whose window has this input pixel under its tap (ky, kx)
                const std::int64_t y = iy + g.pad_h - ky * g.dilation_h, x = ix + g.pad_w - kx * g.dilation_w;
                if (y % g.stride_h != 0 || x % g.stride_w != 0) continue;
                const std::int64_t oy = y / g.stride_h, ox = x / g.stride_w;
                if (!inside(oy, g.out_height()) || !inside(ox, g.out_width())) continue;
                const T w = a.w[((oc * g.in_per_group() + ic) * g.kernel_h + ky) * g.kernel_w + kx];
                sum = fma(w, a.dy((oc * g.out_height() + oy) * g.out_width() + ox, s), sum);
              }
          a.dx((channel * g.in_height + iy) * g.in_width + ix, s) = sum;
        }
}

template <class T>
void conv2d_backward_weights(const Conv2dBackwardWeights<T>& a) {
  const Conv2dGeometry& g = a.geometry;
  const std::int64_t out_pixels = g.out_height() * g.out_width();
  for (std::int64_t oc = 0; oc < g.out_channels; ++oc)
    for (std::int64_t ic = 0; ic < g.in_per_group(); ++ic)
      for (std::int64_t ky = 0; ky < g.kernel_h; ++ky)
        for (std::int64_t kx = 0; kx < g.kernel_w; ++kx) {
          const std::int64_t channel = oc / g.out_per_group() * g.in_per_group() + ic;
          const auto term = [&](std::int64_t pixel, std::int64_t s, T sum) {
            const std::int64_t iy = pixel / g.out_width() * g.stride_h + ky * g.dilation_h - g.pad_h;
            const std::int64_t ix = pixel % g.out_width() * g.stride_w + kx * g.dilation_w - g.pad_w;
            if (!inside(iy, g.in_height) || !inside(ix, g.in_width)) return sum;
            return fma(a.dy(oc * out_pixels + pixel, s), a.x((channel * g.in_height + iy) * g.in_width + ix, s), sum);
          };
          a.dw[((oc * g.in_per_group() + ic) * g.kernel_h + ky) * g.kernel_w + kx] =
              sum_over_slots<T>(a.slots, out_pixels, term);
        }
  if (a.db == nullptr) return;
  for (std::int64_t oc = 0; oc < g.out_channels; ++oc)
    a.db[oc] = sum_over_slots<T>(a.slots, out_pixels, [&](std::int64_t pixel, std::int64_t s, T sum) {
      return sum + a.dy(oc * out_pixels + pixel, s);
    });
}

}  // namespace lockstep::LOCKSTEP_NAIVE
