// Convolution: tiles of registers where work-items hold vectors of samples, tiles in local memory where they hold one,
// and the naive kernels for what does not fit into those.
#include "lockstep/kernels/device/conv2d_tiled.hpp"

namespace lockstep::device {

namespace {

// One work-item per output: any geometry, any device.

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

}  // namespace

template <class T, Style kStyle>
void conv2d_forward(const Conv2dForward<T>& a, KernelContext& context) {
  if constexpr (kStyle == Style::naive) return conv2d_forward_naive(a, context);
  if (context.device().info().lanes<T>() == 1) {
    if (!conv2d_forward_tiled(a, context)) conv2d_forward_naive(a, context);
    return;
  }
  const Conv2dGeometry& g = a.geometry;
  const std::int64_t tiles = tiles_of(g.out_per_group());
  start_conv<T>(context, "conv2d_forward", over_tiles<T>(context.device(), a.y.cols, tiles * g.groups, g.out_height()),
                g, a.x.data, a.x.stride, a.w, a.b, a.y.data, a.y.stride, tiles, a.y.cols);
}

template <class T, Style kStyle>
void conv2d_backward_data(const Conv2dBackwardData<T>& a, KernelContext& context) {
  if constexpr (kStyle == Style::naive) return conv2d_backward_data_naive(a, context);
  if (context.device().info().lanes<T>() == 1) {
    if (!conv2d_backward_data_tiled(a, context)) conv2d_backward_data_naive(a, context);
    return;
  }
  const Conv2dGeometry& g = a.geometry;
  const std::int64_t tiles = tiles_of(g.in_per_group());
  start_conv<T>(context, "conv2d_backward_data",
                over_tiles<T>(context.device(), a.dx.cols, tiles * g.groups, g.in_height), g, a.w, a.dy.data,
                a.dy.stride, a.dx.data, a.dx.stride, tiles, a.dx.cols);
}

template <class T, Style kStyle>
void conv2d_backward_weights(const Conv2dBackwardWeights<T>& a, KernelContext& context) {
  if constexpr (kStyle == Style::naive) return conv2d_backward_weights_naive(a, context);
  Device& device = context.device();
  if (device.info().lanes<T>() == 1) {
    if (!conv2d_backward_weights_tiled(a, context)) conv2d_backward_weights_naive(a, context);
    return;
  }
  const Conv2dGeometry& g = a.geometry;
  const std::int64_t* const bounds = device.constant(a.slots.bounds);
  const std::int64_t taps = g.in_per_group() * g.kernel_h * g.kernel_w;
  const std::int64_t tiles = divide_up(g.out_per_group(), device.info().lanes<T>() == 16 ? 4 : 2);
  const Shape shape{.groups = {divide_up(taps, 4), tiles * g.groups, 1}, .vectors = true};
  start_conv<T>(context, "conv2d_weights", shape, g, a.x.data, a.x.stride, a.dy.data, a.dy.stride, bounds,
                a.slots.count(), a.dw, tiles);
  if (a.db == nullptr) return;
  start<T>(context, "conv2d_bias", Shape{.groups = {g.out_channels, 1, 1}, .vectors = true}, g.out_channels,
           g.out_height() * g.out_width(), a.dy.data, a.dy.stride, bounds, a.slots.count(), a.db);
}

LOCKSTEP_DEVICE_INSTANTIATE(conv2d_forward, Conv2dForward)
LOCKSTEP_DEVICE_INSTANTIATE(conv2d_backward_data, Conv2dBackwardData)
LOCKSTEP_DEVICE_INSTANTIATE(conv2d_backward_weights, Conv2dBackwardWeights)

}  // namespace lockstep::device
