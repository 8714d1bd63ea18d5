// Softmax, losses and scores: a work-item is a sample, or a slot.
#include "lockstep/kernels/device/codes.hpp"
#include "lockstep/kernels/device/launch.hpp"

namespace lockstep::device {

template <class T, Style kStyle>
void softmax_forward(const SoftmaxForward<T>& a, KernelContext& context) {
  if (a.y.rows == 0) return;
  start<T>(context, "softmax_forward", over_vector(context.device(), Style::naive, a.y.cols), a.x.data, a.x.stride,
           a.y.data, a.y.stride, a.y.rows, a.y.cols);
}

template <class T, Style kStyle>
void softmax_backward(const SoftmaxBackward<T>& a, KernelContext& context) {
  start<T>(context, "softmax_backward", over_vector(context.device(), Style::naive, a.dx.cols), a.y.data, a.y.stride,
           a.dy.data, a.dy.stride, a.dx.data, a.dx.stride, a.dx.rows, a.dx.cols);
}

/// Labels, values and losses lie on the device.
template <class T, Style kStyle>
void loss_gradient(const LossGradient<T>& a, KernelContext& context) {
  start<T>(context, "loss_gradient", over_vector(context.device(), Style::naive, a.z.cols), code_of(a.kind),
           a.smoothing, a.gamma, a.delta, a.scale, a.z.data, a.z.stride, a.targets.labels, a.targets.values.data,
           a.targets.values.stride, a.weights, a.loss, a.dz.data, a.dz.stride, a.z.rows, a.z.cols);
}

/// Everything but the bounds lies on the device.
template <class T, Style kStyle>
void score_slots(const ScoreSlots<T>& a, KernelContext& context) {
  // As in text/loss.h: a group per slot; on a processor one work-item each.
  const Shape shape{.groups = {a.slots.count(), 1, 1},
                    .group_size = {context.device().info().is_cpu ? 1 : kGroup, 1, 1}};
  start<T>(context, "score_slots", shape, code_of(a.kind), a.z.data, a.z.stride, a.z.rows, a.labels, a.loss,
           context.device().constant(a.slots.bounds), a.steps, a.step_stride, a.lengths, a.sum, a.correct);
}

LOCKSTEP_DEVICE_INSTANTIATE(softmax_forward, SoftmaxForward)
LOCKSTEP_DEVICE_INSTANTIATE(softmax_backward, SoftmaxBackward)
LOCKSTEP_DEVICE_INSTANTIATE(loss_gradient, LossGradient)
LOCKSTEP_DEVICE_INSTANTIATE(score_slots, ScoreSlots)

}  // namespace lockstep::device
