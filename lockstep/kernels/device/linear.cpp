// Linear in tiles of registers.
#include "lockstep/kernels/device/launch.hpp"

namespace lockstep::device {

namespace {

/// y(r, s) = b(r) + the sum over k of w[r * row_step + k * k_step] * x(k, s): vectors in registers on a processor,
/// tiles in local memory on other devices.
template <class T>
void product(KernelContext& context, ConstMatrix<T> x, const T* w, std::int64_t row_step, std::int64_t k_step,
             const T* b, Matrix<T> y) {
  constexpr std::int64_t kBlock = 64;
  const Device& device = context.device();
  const bool tiled = device.info().lanes<T>() == 1 && device.info().max_group >= kSide * kSide;
  const Shape shape = tiled ? Shape{.groups = {divide_up(y.cols, kBlock), divide_up(y.rows, kBlock), 1},
                                    .group_size = {kSide, kSide, 1}}
                            : over_tiles<T>(device, y.cols, tiles_of(y.rows));
  start<T>(context, tiled ? "linear_tiled" : "linear_rows", shape, x.data, x.stride, w, row_step, k_step, b, y.data,
           y.stride, x.rows, y.rows, y.cols);
}

template <class T>
void linear_forward(const LinearForward<T>& a, KernelContext& context) {
  product<T>(context, a.x, a.w.data, a.w.stride, 1, a.b, a.y);
}

template <class T>
void linear_backward_data(const LinearBackwardData<T>& a, KernelContext& context) {
  product<T>(context, a.dy, a.w.data, 1, a.w.stride, nullptr, a.dx);
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
