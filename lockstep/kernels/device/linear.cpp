// Linear in tiles of registers.
#include "lockstep/kernels/device/launch.hpp"

namespace lockstep::device {

namespace {

template <class T>
void linear_forward(const LinearForward<T>& a, KernelContext& context) {
  start<T>(context, "linear_rows", over_tiles<T>(context.device(), a.y.cols, tiles_of(a.y.rows)), a.x.data, a.x.stride,
           a.w.data, a.w.stride, std::int64_t{1}, a.b, a.y.data, a.y.stride, a.x.rows, a.y.rows, a.y.cols);
}

template <class T>
void linear_backward_data(const LinearBackwardData<T>& a, KernelContext& context) {
  start<T>(context, "linear_rows", over_tiles<T>(context.device(), a.dx.cols, tiles_of(a.dx.rows)), a.dy.data,
           a.dy.stride, a.w.data, std::int64_t{1}, a.w.stride, static_cast<const T*>(nullptr), a.dx.data, a.dx.stride,
           a.dy.rows, a.dx.rows, a.dx.cols);
}

/// Vectors run over the inputs, so that a sum over samples stays one chain: x is transposed first, with a column of
/// ones behind it for the bias.
template <class T>
void linear_backward_weights(const LinearBackwardWeights<T>& a, KernelContext& context) {
  Device& device = context.device();
  const std::int64_t tile = 2 * device.info().lanes<T>(), in = a.dw.cols, samples = a.x.cols;
  const std::int64_t stride = divide_up(in + 1, tile) * tile;
  T* const transposed = context.scratch<T>(std::max<std::int64_t>(samples * stride, 1));
  Shape shape = over_matrix(device, Style::tuned, divide_up(stride, 16), samples);
  start<T>(context, "linear_transpose", shape, a.x.data, a.x.stride, transposed, stride, in, samples);
  start<T>(context, "linear_weights", over_tiles<T>(device, stride, tiles_of(a.dw.rows)),
           static_cast<const T*>(transposed), stride, a.dy.data, a.dy.stride, device.constant(a.slots.bounds),
           a.slots.count(), a.dw.data, a.dw.stride, a.db, in, a.dw.rows);
}

}  // namespace

template <class T>
void add_tuned_linear(KernelTable<T>& table) {
  table.linear_forward = {table.backend, &linear_forward<T>};
  table.linear_backward_data = {table.backend, &linear_backward_data<T>};
  table.linear_backward_weights = {table.backend, &linear_backward_weights<T>};
}

template void add_tuned_linear(KernelTable<float>&);
template void add_tuned_linear(KernelTable<double>&);

}  // namespace lockstep::device
