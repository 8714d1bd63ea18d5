#include "lockstep/kernels/device/launch.hpp"

namespace lockstep::device {

namespace {

Shape squares(std::int64_t rows, std::int64_t cols) {
  return {.groups = {divide_up(cols, kSide), divide_up(rows, kSide), 1}, .group_size = {kSide, kSide, 1}};
}

template <class T>
void linear_forward(const LinearForward<T>& a, KernelContext& context) {
  start<T>(context, "linear_forward_naive", squares(a.y.rows, a.y.cols), a.x.data, a.x.stride, a.w.data, a.w.stride,
           a.b, a.y.data, a.y.stride, a.x.rows, a.y.rows, a.y.cols);
}

template <class T>
void linear_backward_data(const LinearBackwardData<T>& a, KernelContext& context) {
  start<T>(context, "linear_backward_data_naive", squares(a.dx.rows, a.dx.cols), a.w.data, a.w.stride, a.dy.data,
           a.dy.stride, a.dx.data, a.dx.stride, a.dx.rows, a.dy.rows, a.dx.cols);
}

template <class T>
void linear_backward_weights(const LinearBackwardWeights<T>& a, KernelContext& context) {
  start<T>(context, "linear_backward_weights_naive", squares(a.dw.rows, a.dw.cols + 1), a.x.data, a.x.stride, a.dy.data,
           a.dy.stride, context.device().constant(a.slots.bounds), a.slots.count(), a.dw.data, a.dw.stride, a.db,
           a.dw.cols, a.dw.rows);
}

}  // namespace

template <class T>
void add_naive_linear(KernelTable<T>& table) {
  table.linear_forward = {table.backend, &linear_forward<T>};
  table.linear_backward_data = {table.backend, &linear_backward_data<T>};
  table.linear_backward_weights = {table.backend, &linear_backward_weights<T>};
}

template void add_naive_linear(KernelTable<float>&);
template void add_naive_linear(KernelTable<double>&);

}  // namespace lockstep::device
