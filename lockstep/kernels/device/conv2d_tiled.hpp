#pragma once
// Convolution in tiles of local memory, for devices whose work-items hold one sample.
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

/// Each of these returns false, and starts nothing, where a tile does not fit: a dilation that spreads a window over
/// more pixels than a group keeps, or a device with small groups. The naive kernels run everything.
template <class T>
bool conv2d_forward_tiled(const Conv2dForward<T>& arguments, KernelContext& context);
template <class T>
bool conv2d_backward_data_tiled(const Conv2dBackwardData<T>& arguments, KernelContext& context);
template <class T>
bool conv2d_backward_weights_tiled(const Conv2dBackwardWeights<T>& arguments, KernelContext& context);

}  // namespace lockstep::device
