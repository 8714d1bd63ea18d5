#pragma once
#include "lockstep/kernels/device/launch.hpp"

namespace lockstep::device {

/// Starts a kernel whose first arguments are the geometry.
template <class T, class... Rest>
void start_conv(KernelContext& context, const char* kernel, const Shape& shape, const Conv2dGeometry& g,
                const Rest&... rest) {
  start<T>(context, kernel, shape, g.in_channels, g.in_height, g.in_width, g.out_channels, g.out_height(),
           g.out_width(), g.kernel_h, g.kernel_w, g.stride_h, g.stride_w, g.pad_h, g.pad_w, g.dilation_h, g.dilation_w,
           g.groups, rest...);
}

}  // namespace lockstep::device
