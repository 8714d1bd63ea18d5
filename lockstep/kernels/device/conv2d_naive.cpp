#include "lockstep/kernels/device/conv2d_naive.hpp"

#include "lockstep/kernels/device/conv2d_arguments.hpp"

namespace lockstep::device {

template <class T>
void conv2d_forward_naive(const Conv2dForward<T>& a, KernelContext& context) {
  start_conv<T>(context, "conv2d_forward_naive", over_matrix(context.device(), Style::naive, a.y.rows, a.y.cols),
                a.geometry, a.x.data, a.x.stride, a.w, a.b, a.y.data, a.y.stride, a.y.cols);
}

template <class T>
void conv2d_backward_data_naive(const Conv2dBackwardData<T>& a, KernelContext& context) {
  start_conv<T>(context, "conv2d_backward_data_naive",
                over_matrix(context.device(), Style::naive, a.dx.rows, a.dx.cols), a.geometry, a.w, a.dy.data,
                a.dy.stride, a.dx.data, a.dx.stride, a.dx.cols);
}

template <class T>
void conv2d_backward_weights_naive(const Conv2dBackwardWeights<T>& a, KernelContext& context) {
  const Conv2dGeometry& g = a.geometry;
  const std::int64_t weights = g.out_channels * g.in_per_group() * g.kernel_h * g.kernel_w;
  start_conv<T>(context, "conv2d_backward_weights_naive",
                over_vector(context.device(), Style::naive, weights + g.out_channels), g, a.x.data, a.x.stride,
                a.dy.data, a.dy.stride, context.device().constant(a.slots.bounds), a.slots.count(), a.dw, a.db);
}

template void conv2d_forward_naive(const Conv2dForward<float>&, KernelContext&);
template void conv2d_forward_naive(const Conv2dForward<double>&, KernelContext&);
template void conv2d_backward_data_naive(const Conv2dBackwardData<float>&, KernelContext&);
template void conv2d_backward_data_naive(const Conv2dBackwardData<double>&, KernelContext&);
template void conv2d_backward_weights_naive(const Conv2dBackwardWeights<float>&, KernelContext&);
template void conv2d_backward_weights_naive(const Conv2dBackwardWeights<double>&, KernelContext&);

}  // namespace lockstep::device
