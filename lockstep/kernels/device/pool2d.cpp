#include "lockstep/kernels/device/launch.hpp"

namespace lockstep::device {

namespace {

/// `rows` by y.cols work-items: one per element of y, or per window.
template <class T, Style kStyle, class... Rest>
void start_pool(KernelContext& context, const char* kernel, std::int64_t rows, Matrix<T> y, const Pool2dGeometry& g,
                const Rest&... rest) {
  start<T>(context, kernel, over_matrix(context.device(), kStyle, rows, y.cols), g.channels, g.in_height, g.in_width,
           g.out_height(), g.out_width(), g.window_h, g.window_w, g.stride_h, g.stride_w, g.pad_h, g.pad_w, rest...,
           y.data, y.stride, y.cols);
}

template <class T>
T share_of(const Pool2dGeometry& g) {
  return T(1) / T(g.window_h * g.window_w);
}

}  // namespace

template <class T, Style kStyle>
void max_pool2d_forward(const MaxPool2dForward<T>& a, KernelContext& context) {
  start_pool<T, kStyle>(context, "max_pool2d_forward", a.y.rows, a.y, a.geometry, a.x.data, a.x.stride);
}

template <class T, Style kStyle>
void max_pool2d_backward(const MaxPool2dBackward<T>& a, KernelContext& context) {
  const Pool2dGeometry& g = a.geometry;
  const bool apart = kStyle == Style::tuned && g.stride_h >= g.window_h && g.stride_w >= g.window_w;
  start_pool<T, kStyle>(context, apart ? "max_pool2d_backward_apart" : "max_pool2d_backward",
                        apart ? a.y.rows : a.dx.rows, a.dx, g, a.x.data, a.x.stride, a.y.data, a.y.stride, a.dy.data,
                        a.dy.stride);
}

template <class T, Style kStyle>
void avg_pool2d_forward(const AvgPool2dForward<T>& a, KernelContext& context) {
  start_pool<T, kStyle>(context, "avg_pool2d_forward", a.y.rows, a.y, a.geometry, share_of<T>(a.geometry), a.x.data,
                        a.x.stride);
}

template <class T, Style kStyle>
void avg_pool2d_backward(const AvgPool2dBackward<T>& a, KernelContext& context) {
  start_pool<T, kStyle>(context, "avg_pool2d_backward", a.dx.rows, a.dx, a.geometry, share_of<T>(a.geometry), a.dy.data,
                        a.dy.stride);
}

LOCKSTEP_DEVICE_INSTANTIATE(max_pool2d_forward, MaxPool2dForward)
LOCKSTEP_DEVICE_INSTANTIATE(max_pool2d_backward, MaxPool2dBackward)
LOCKSTEP_DEVICE_INSTANTIATE(avg_pool2d_forward, AvgPool2dForward)
LOCKSTEP_DEVICE_INSTANTIATE(avg_pool2d_backward, AvgPool2dBackward)

}  // namespace lockstep::device
