#pragma once
#include "lockstep/kernels/conv2d.hpp"
#include "lockstep/kernels/naive/lanes.hpp"
#include "lockstep/kernels/naive/variant.hpp"

namespace lockstep::LOCKSTEP_NAIVE {

LOCKSTEP_INLINE bool inside(std::int64_t i, std::int64_t size) { return i >= 0 && i < size; }

template <class T>
void conv2d_forward(const Conv2dForward<T>& a) {
  const Conv2dGeometry& g = a.geometry;
  const std::int64_t out_height = g.out_height(), out_width = g.out_width();
  for (std::int64_t oc = 0; oc < g.out_channels; ++oc) {
    const std::int64_t first_channel = oc / g.out_per_group() * g.in_per_group();
    for (std::int64_t oy = 0; oy < out_height; ++oy)
      for (std::int64_t ox = 0; ox < out_width; ++ox)
        for (std::int64_t s = 0; s < a.y.cols; ++s) {
          T sum = a.b ? a.b[oc] : T(0);
          for (std::int64_t ic = 0; ic < g.in_per_group(); ++ic)
            for (std::int64_t ky = 0; ky < g.kernel_h; ++ky)
              for (std::int64_t kx = 0; kx < g.kernel_w; ++kx) {
                const std::int64_t iy = oy * g.stride_h + ky * g.dilation_h - g.pad_h;
                const std::int64_t ix = ox * g.stride_w + kx * g.dilation_w - g.pad_w;
                if (!inside(iy, g.in_height) || !inside(ix, g.in_width)) continue;
                const T w = a.w[((oc * g.in_per_group() + ic) * g.kernel_h + ky) * g.kernel_w + kx];
                sum = fma(w, a.x(((first_channel + ic) * g.in_height + iy) * g.in_width + ix, s), sum);
              }
          a.y((oc * out_height + oy) * out_width + ox, s) = sum;
        }
  }
}

/// The output coordinate whose window has input coordinate `in` under its tap; -1 where there is none.
LOCKSTEP_INLINE std::int64_t output_over(std::int64_t in, std::int64_t tap, std::int64_t stride, std::int64_t pad,
                                         std::int64_t dilation, std::int64_t outputs) {
  const std::int64_t position = in + pad - tap * dilation;
  if (position < 0) return -1;
  const std::int64_t out = stride == 1 ? position : position / stride;  // spares the usual case a slow division
  return out * stride == position && out < outputs ? out : -1;
}

template <class T>
void conv2d_backward_data(const Conv2dBackwardData<T>& a) {
  const Conv2dGeometry& g = a.geometry;
  const std::int64_t out_height = g.out_height(), out_width = g.out_width();
  for (std::int64_t channel = 0; channel < g.in_channels; ++channel) {
    const std::int64_t group = channel / g.in_per_group(), ic = channel % g.in_per_group();
    for (std::int64_t iy = 0; iy < g.in_height; ++iy)
      for (std::int64_t ix = 0; ix < g.in_width; ++ix)
        for (std::int64_t s = 0; s < a.dx.cols; ++s) {
          T sum = T(0);
          for (std::int64_t oc = group * g.out_per_group(); oc < (group + 1) * g.out_per_group(); ++oc)
            for (std::int64_t ky = 0; ky < g.kernel_h; ++ky) {
              const std::int64_t oy = output_over(iy, ky, g.stride_h, g.pad_h, g.dilation_h, out_height);
              if (oy < 0) continue;
              for (std::int64_t kx = 0; kx < g.kernel_w; ++kx) {
                const std::int64_t ox = output_over(ix, kx, g.stride_w, g.pad_w, g.dilation_w, out_width);
                if (ox < 0) continue;
                const T w = a.w[((oc * g.in_per_group() + ic) * g.kernel_h + ky) * g.kernel_w + kx];
                sum = fma(w, a.dy((oc * out_height + oy) * out_width + ox, s), sum);
              }
            }
          a.dx((channel * g.in_height + iy) * g.in_width + ix, s) = sum;
        }
  }
}

template <class T>
void conv2d_backward_weights(const Conv2dBackwardWeights<T>& a) {
  const Conv2dGeometry& g = a.geometry;
  const Pixels pixels{g.out_height(), g.out_width()};
  for (std::int64_t oc = 0; oc < g.out_channels; ++oc) {
    const std::int64_t first_channel = oc / g.out_per_group() * g.in_per_group();
    const auto dy = [&](std::int64_t oy, std::int64_t ox, std::int64_t s) {
      return a.dy((oc * pixels.rows + oy) * pixels.cols + ox, s);
    };
    for (std::int64_t ic = 0; ic < g.in_per_group(); ++ic)
      for (std::int64_t ky = 0; ky < g.kernel_h; ++ky)
        for (std::int64_t kx = 0; kx < g.kernel_w; ++kx) {
          const auto term = [&](std::int64_t oy, std::int64_t ox, std::int64_t s, T sum) {
            const std::int64_t iy = oy * g.stride_h + ky * g.dilation_h - g.pad_h;
            const std::int64_t ix = ox * g.stride_w + kx * g.dilation_w - g.pad_w;
            if (!inside(iy, g.in_height) || !inside(ix, g.in_width)) return sum;
            return fma(dy(oy, ox, s), a.x(((first_channel + ic) * g.in_height + iy) * g.in_width + ix, s), sum);
          };
          a.dw[((oc * g.in_per_group() + ic) * g.kernel_h + ky) * g.kernel_w + kx] =
              sum_over_slots<T>(a.slots, pixels, term);
        }
    if (a.db != nullptr)
      a.db[oc] = sum_over_slots<T>(a.slots, pixels, [&](std::int64_t oy, std::int64_t ox, std::int64_t s, T sum) {
        return sum + dy(oy, ox, s);
      });
  }
}

}  // namespace lockstep::LOCKSTEP_NAIVE
