// Recurrent cells: a work-item is a unit of a sample, or of a vector of samples.
#include "lockstep/kernels/device/launch.hpp"

namespace lockstep::device {

template <class T, Style kStyle>
void lstm_forward(const LstmForward<T>& a, KernelContext& context) {
  start<T>(context, "lstm_forward", over_matrix(context.device(), kStyle, a.h.rows, a.h.cols), a.zi.data, a.zi.stride,
           a.zh.data, a.zh.stride, a.c_before.data, a.c_before.stride, a.gates.data, a.gates.stride, a.c.data,
           a.c.stride, a.h.data, a.h.stride, a.h.rows, a.h.cols);
}

template <class T, Style kStyle>
void lstm_backward(const LstmBackward<T>& a, KernelContext& context) {
  start<T>(context, "lstm_backward", over_matrix(context.device(), kStyle, a.c.rows, a.c.cols), a.gates.data,
           a.gates.stride, a.c.data, a.c.stride, a.c_before.data, a.c_before.stride, a.dh.data, a.dh.stride,
           a.dc_after.data, a.dc_after.stride, a.dz.data, a.dz.stride, a.dc_before.data, a.dc_before.stride, a.c.rows,
           a.c.cols);
}

template <class T, Style kStyle>
void gru_forward(const GruForward<T>& a, KernelContext& context) {
  start<T>(context, "gru_forward", over_matrix(context.device(), kStyle, a.h.rows, a.h.cols), a.zi.data, a.zi.stride,
           a.zh.data, a.zh.stride, a.h_before.data, a.h_before.stride, a.gates.data, a.gates.stride, a.h.data,
           a.h.stride, a.h.rows, a.h.cols);
}

template <class T, Style kStyle>
void gru_backward(const GruBackward<T>& a, KernelContext& context) {
  start<T>(context, "gru_backward", over_matrix(context.device(), kStyle, a.dh.rows, a.dh.cols), a.gates.data,
           a.gates.stride, a.zh.data, a.zh.stride, a.h_before.data, a.h_before.stride, a.dh.data, a.dh.stride,
           a.dzi.data, a.dzi.stride, a.dzh.data, a.dzh.stride, a.dh_before.data, a.dh_before.stride, a.dh.rows,
           a.dh.cols);
}

template <class T, Style kStyle>
void pack_steps(const PackSteps<T>& a, KernelContext& context) {
  Device& device = context.device();
  start<T>(context, "pack_steps",
           over_matrix(device, Style::naive, a.to.rows, a.steps * a.slots.end(a.slots.count() - 1)), a.from.data,
           a.from.stride, a.steps, a.step_stride, a.shift, device.constant(a.slots.bounds), a.slots.count(), a.to.data,
           a.to.stride, a.to.rows);
}

/// lengths lie on the device.
template <class T, Style kStyle>
void end_steps(const EndSteps<T>& a, KernelContext& context) {
  start<T>(context, "end_steps", over_matrix(context.device(), Style::naive, a.y.rows, a.y.cols), a.step, a.lengths,
           a.ended.data, a.ended.stride, a.y.data, a.y.stride, a.y.rows, a.y.cols);
}

LOCKSTEP_DEVICE_INSTANTIATE(lstm_forward, LstmForward)
LOCKSTEP_DEVICE_INSTANTIATE(lstm_backward, LstmBackward)
LOCKSTEP_DEVICE_INSTANTIATE(gru_forward, GruForward)
LOCKSTEP_DEVICE_INSTANTIATE(gru_backward, GruBackward)
LOCKSTEP_DEVICE_INSTANTIATE(pack_steps, PackSteps)
LOCKSTEP_DEVICE_INSTANTIATE(end_steps, EndSteps)

}  // namespace lockstep::device
