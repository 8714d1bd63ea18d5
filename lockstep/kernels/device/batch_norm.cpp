#include "lockstep/kernels/device/launch.hpp"

namespace lockstep::device {

namespace {

/// A work-item takes a channel of a slot. On a processor each is a group of its own, so that all take part.
Shape over_slots(const Device& device, std::int64_t channels, std::int64_t slots) {
  if (!device.info().is_cpu) return over_vector(device, Style::naive, channels * slots);
  return {.groups = {channels * slots, 1, 1}};
}

/// Sixteen work-items, the virtual lanes, for each channel of a slot, and two of those to a group, or one where groups
/// would be fewer than multiprocessors: for GPUs, where one work-item each would leave most of them idle and read in
/// strides.
Shape over_lanes(const Device& device, std::int64_t channels, std::int64_t slots) {
  constexpr std::int64_t kMost = 2;  // as in text/batch_norm.h
  const std::int64_t each = divide_up(channels * slots, kMost) < device.info().compute_units ? 1 : kMost;
  return {.groups = {divide_up(channels * slots, each), 1, 1}, .group_size = {kLanes, each, 1}};
}

template <Style kStyle>
bool by_lanes(const Device& device) {
  return kStyle == Style::tuned && !device.info().is_cpu;
}

}  // namespace

template <class T, Style kStyle>
void batch_norm_forward(const BatchNormForward<T>& a, KernelContext& context) {
  const std::int64_t slots = a.slots.count();
  T* const sums = context.scratch<T>(2 * a.channels * slots);
  if (by_lanes<kStyle>(context.device()) && a.y.rows > 0 && a.y.cols > 0) {
    const std::int64_t* const bounds = context.device().constant(a.slots.bounds);
    start<T>(context, "batch_norm_statistics", over_lanes(context.device(), a.channels, slots), a.channels, a.pixels,
             a.eps, a.x.data, a.x.stride, bounds, slots, a.mean, a.inv_std, sums);
    start<T>(context, "batch_norm_apply", over_matrix(context.device(), Style::naive, a.y.rows, a.y.cols), a.channels,
             a.pixels, a.x.data, a.x.stride, a.gamma, a.beta, a.mean, a.inv_std, bounds, slots, a.y.data, a.y.stride,
             sums, a.sum_mean, a.sum_var, a.y.cols);
    return;
  }
  start<T>(context, "batch_norm_forward", over_slots(context.device(), a.channels, slots), a.channels, a.pixels, a.eps,
           a.x.data, a.x.stride, a.gamma, a.beta, context.device().constant(a.slots.bounds), slots, a.y.data,
           a.y.stride, a.mean, a.inv_std, sums);
  add_slots(context, a.channels, slots, sums, a.sum_mean, a.sum_var);
}

template <class T, Style kStyle>
void batch_norm_backward(const BatchNormBackward<T>& a, KernelContext& context) {
  const std::int64_t slots = a.slots.count();
  T* const sums = context.scratch<T>(2 * a.channels * slots);
  if (by_lanes<kStyle>(context.device())) {
    const std::int64_t* const bounds = context.device().constant(a.slots.bounds);
    start<T>(context, "batch_norm_slopes", over_lanes(context.device(), a.channels, slots), a.channels, a.pixels,
             a.x.data, a.x.stride, a.dy.data, a.dy.stride, a.mean, a.inv_std, bounds, slots, sums);
    if (a.dx.data == nullptr || a.dx.rows == 0 || a.dx.cols == 0)
      add_slots(context, a.channels, slots, sums, a.dbeta, a.dgamma);
    else
      start<T>(context, "batch_norm_apply_backward", over_matrix(context.device(), Style::naive, a.dx.rows, a.dx.cols),
               a.channels, a.pixels, a.x.data, a.x.stride, a.dy.data, a.dy.stride, a.gamma, a.mean, a.inv_std, bounds,
               slots, a.dx.data, a.dx.stride, sums, a.dbeta, a.dgamma, a.dx.cols);
    return;
  }
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

template <class T, Style kStyle>
void batch_norm_sums(const BatchNormSums<T>& a, KernelContext& context) {
  const std::int64_t slots = a.slots.count();
  T* const sums = context.scratch<T>(a.channels * slots);
  const bool lanes = by_lanes<kStyle>(context.device());
  start<T>(context, lanes ? "batch_norm_lane_sums" : "batch_norm_sums",
           lanes ? over_lanes(context.device(), a.channels, slots) : over_slots(context.device(), a.channels, slots),
           a.channels, a.pixels, a.x.data, a.x.stride, a.centre, context.device().constant(a.slots.bounds), slots,
           sums);
  add_chunks<T>(context, sums, a.channels, slots, a.sum, a.channels);
}

template <class T, Style kStyle>
void batch_norm_normalise(const BatchNormNormalise<T>& a, KernelContext& context) {
  start<T>(context, "batch_norm_normalise", over_matrix(context.device(), Style::naive, a.y.rows, a.y.cols), a.channels,
           a.pixels, a.x.data, a.x.stride, a.gamma, a.beta, a.mean, a.inv_std, a.y.data, a.y.stride, a.y.cols);
}

template <class T, Style kStyle>
void batch_norm_backward_data(const BatchNormBackwardData<T>& a, KernelContext& context) {
  start<T>(context, "batch_norm_backward_data", over_matrix(context.device(), Style::naive, a.dx.rows, a.dx.cols),
           a.channels, a.pixels, a.x.data, a.x.stride, a.dy.data, a.dy.stride, a.gamma, a.mean, a.inv_std, a.p, a.q,
           a.share, a.dx.data, a.dx.stride, a.dx.cols);
}

LOCKSTEP_DEVICE_INSTANTIATE(batch_norm_forward, BatchNormForward)
LOCKSTEP_DEVICE_INSTANTIATE(batch_norm_backward, BatchNormBackward)
LOCKSTEP_DEVICE_INSTANTIATE(batch_norm_inference, BatchNormInference)
LOCKSTEP_DEVICE_INSTANTIATE(batch_norm_sums, BatchNormSums)
LOCKSTEP_DEVICE_INSTANTIATE(batch_norm_normalise, BatchNormNormalise)
LOCKSTEP_DEVICE_INSTANTIATE(batch_norm_backward_data, BatchNormBackwardData)

}  // namespace lockstep::device
