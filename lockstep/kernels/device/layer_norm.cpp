// Layer normalisation: a work-item is a sample; for dgamma and dbeta, a feature of a slot.
#include "lockstep/kernels/device/launch.hpp"

namespace lockstep::device {

template <class T, Style kStyle>
void layer_norm_forward(const LayerNormForward<T>& a, KernelContext& context) {
  start<T>(context, "layer_norm_forward", over_vector(context.device(), Style::naive, a.x.cols), a.eps, a.x.data,
           a.x.stride, a.gamma, a.beta, a.y.data, a.y.stride, a.mean, a.inv_std, a.x.rows, a.x.cols);
}

template <class T, Style kStyle>
void layer_norm_backward(const LayerNormBackward<T>& a, KernelContext& context) {
  const std::int64_t features = a.x.rows, slots = a.slots.count();
  T* const sums = context.scratch<T>(2 * features * slots);
  start<T>(context, "layer_norm_backward_weights", over_vector(context.device(), Style::naive, features * slots),
           a.x.data, a.x.stride, a.dy.data, a.dy.stride, a.mean, a.inv_std, context.device().constant(a.slots.bounds),
           slots, sums, features);
  add_chunks<T>(context, sums, features, slots, a.dbeta, features);
  add_chunks<T>(context, sums + features * slots, features, slots, a.dgamma, features);
  if (a.dx.data == nullptr) return;
  start<T>(context, "layer_norm_backward_data", over_vector(context.device(), Style::naive, a.x.cols), a.x.data,
           a.x.stride, a.dy.data, a.dy.stride, a.gamma, a.mean, a.inv_std, a.dx.data, a.dx.stride, features, a.x.cols);
}

LOCKSTEP_DEVICE_INSTANTIATE(layer_norm_forward, LayerNormForward)
LOCKSTEP_DEVICE_INSTANTIATE(layer_norm_backward, LayerNormBackward)

}  // namespace lockstep::device
