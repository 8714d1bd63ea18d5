#pragma once
// Convolution with one work-item per output: any geometry, any device.
#include "lockstep/kernels/table.hpp"

namespace lockstep::device {

template <class T>
void conv2d_forward_naive(const Conv2dForward<T>& arguments, KernelContext& context);
template <class T>
void conv2d_backward_data_naive(const Conv2dBackwardData<T>& arguments, KernelContext& context);
template <class T>
void conv2d_backward_weights_naive(const Conv2dBackwardWeights<T>& arguments, KernelContext& context);

}  // namespace lockstep::device
