#include "lockstep/kernels/device/launch.hpp"

namespace lockstep::device {

namespace {

/// A work-item takes a channel of a slot. On a processor each is a group of its own, so that all take part.
Shape over_slots(const Device& device, std::int64_t channels, std::int64_t slots) {
  if (!device.info().is_cpu) return over_vector(device, Style::naive, channels * slots);
  return {.groups = {channels * slots, 1, 1}};
}

}  // namespace

template <class T, Style kStyle>
void batch_norm_forward(const BatchNormForward<T>& a, KernelContext& context) {
  const std::int64_t slots = a.slots.count();
  T* const sums = context.scratch<T>(2 * a.channels * slots);
  start<T>(context, "batch_norm_forward", over_slots(context.device(), a.channels, slots), a.channels, a.pixels, a.eps,
           a.x.data, a.x.stride, a.gamma, a.beta, context.device().constant(a.slots.bounds), slots, a.y.data,
           a.y.stride, a.mean, a.inv_std, sums);
  add_slots(context, a.channels, slots, sums, a.sum_mean, a.sum_var);
}

template <class T, Style kStyle>
void batch_norm_backward(const BatchNormBackward<T>& a, KernelContext& context) {
  const std::int64_t slots = a.slots.count();
  T* const sums = context.scratch<T>(2 * a.channels * slots);
  start<T>(context, "batch_norm_backward", over_slots(context.device(), a.channels, slots), a.channels, a.pixels,
           a.x.data, a.x.stride, a.dy.data, a.dy.stride, a.gamma, a.mean, a.inv_std,
           context.device().constant(a.slots.bounds), slots, a.dx.data, a.dx.stride, sums);
  add_slots(context, a.channels, slots, sums, a.dbeta, a.dgamma);
}

template <class T, Style kStyle>
void batch_norm_inference(const BatchNormInference<T>& a, KernelContext& context) {
  start<T>(context, "batch_norm_inference", over_matrix(context.device(), Style::naive, a.y.rows, a.y.cols), a.channels,
           a.pixels, a.eps, a.x.data, a.x.stride, a.gamma, a.beta, a.running_mean, a.running_var, a.y.data, a.y.stride,
           a.y.cols);
}

LOCKSTEP_DEVICE_INSTANTIATE(batch_norm_forward, BatchNormForward)
LOCKSTEP_DEVICE_INSTANTIATE(batch_norm_backward, BatchNormBackward)
LOCKSTEP_DEVICE_INSTANTIATE(batch_norm_inference, BatchNormInference)

}  // namespace lockstep::device
