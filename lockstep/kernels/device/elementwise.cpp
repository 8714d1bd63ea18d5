// Activations, addition, dropout.
#include "lockstep/kernels/device/codes.hpp"
#include "lockstep/kernels/device/launch.hpp"

namespace lockstep::device {

template <class T, Style kStyle>
void activation_forward(const ActivationForward<T>& a, KernelContext& context) {
  start<T>(context, "activation_forward", over_matrix(context.device(), kStyle, a.y.rows, a.y.cols), code_of(a.kind),
           a.slope, a.x.data, a.x.stride, a.y.data, a.y.stride, a.y.rows, a.y.cols);
}

template <class T, Style kStyle>
void activation_backward(const ActivationBackward<T>& a, KernelContext& context) {
  start<T>(context, "activation_backward", over_matrix(context.device(), kStyle, a.dx.rows, a.dx.cols), code_of(a.kind),
           a.slope, a.x.data, a.x.stride, a.y.data, a.y.stride, a.dy.data, a.dy.stride, a.dx.data, a.dx.stride,
           a.dx.rows, a.dx.cols);
}

template <class T, Style kStyle>
void add(const Add<T>& a, KernelContext& context) {
  start<T>(context, "add_matrices", over_matrix(context.device(), kStyle, a.y.rows, a.y.cols), a.a.data, a.a.stride,
           a.b.data, a.b.stride, a.y.data, a.y.stride, a.y.rows, a.y.cols);
}

/// sample_ids lie on the device.
template <class T, Style kStyle>
void dropout_apply(const DropoutApply<T>& a, KernelContext& context) {
  const auto threshold = static_cast<std::uint32_t>(a.p * 4294967296.0);  // p < 1
  start<T>(context, "dropout", over_matrix(context.device(), kStyle, divide_up(a.y.rows, kDropoutRows), a.y.cols),
           static_cast<std::uint32_t>(a.key.seed), static_cast<std::uint32_t>(a.key.seed >> 32),
           static_cast<std::uint32_t>(a.key.purpose), a.key.epoch, a.key.layer, a.first_row, threshold,
           T(1 / (1 - a.p)), a.sample_ids.data(), a.x.data, a.x.stride, a.y.data, a.y.stride, a.y.rows, a.y.cols);
}

LOCKSTEP_DEVICE_INSTANTIATE(activation_forward, ActivationForward)
LOCKSTEP_DEVICE_INSTANTIATE(activation_backward, ActivationBackward)
LOCKSTEP_DEVICE_INSTANTIATE(add, Add)
LOCKSTEP_DEVICE_INSTANTIATE(dropout_apply, DropoutApply)

}  // namespace lockstep::device
