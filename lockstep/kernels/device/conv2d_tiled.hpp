#pragma once
// Convolution in tiles of local memory, for devices whose work-items hold one sample.
#include "lockstep/kernels/device/launch.hpp"

namespace lockstep::device {

/// Each of these returns false, and starts nothing, where a tile does not fit: a dilation that spreads a window over
/// more pixels than a group keeps, or a device with small groups. The naive kernels run everything.
template <class T>
bool conv2d_forward_tiled(const Conv2dForward<T>& arguments, KernelContext& context);
template <class T>
bool conv2d_backward_data_tiled(const Conv2dBackwardData<T>& arguments, KernelContext& context);
template <class T>
bool conv2d_backward_weights_tiled(const Conv2dBackwardWeights<T>& arguments, KernelContext& context);

}  // namespace lockstep::device
