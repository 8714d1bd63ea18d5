// Optimiser steps, sums of squares, running statistics.
#include "lockstep/kernels/device/launch.hpp"

namespace lockstep::device {

namespace {

template <class T, Style kStyle>
void add_l2(const AddL2<T>& a, KernelContext& context) {
  start<T>(context, "add_l2", over_vector(context.device(), kStyle, a.count), a.l2, a.w, a.g, a.count);
}

template <class T, Style kStyle>
void scale_gradient(const ScaleGradient<T>& a, KernelContext& context) {
  start<T>(context, "scale_gradient", over_vector(context.device(), kStyle, a.count), a.factor, a.g, a.count);
}

template <class T, Style kStyle>
void sgd_step(const SgdStep<T>& a, KernelContext& context) {
  start<T>(context, "sgd_step", over_vector(context.device(), kStyle, a.count), a.lr, a.momentum,
           std::int32_t{a.nesterov}, a.g, a.w, a.v, a.count);
}

template <class T, Style kStyle>
void adam_step(const AdamStep<T>& a, KernelContext& context) {
  start<T>(context, "adam_step", over_vector(context.device(), kStyle, a.count), a.rate, a.inv_root2, a.beta1, a.beta2,
           a.eps, a.decay_factor, a.g, a.w, a.m, a.v, a.count);
}

template <class T, Style kStyle>
void rmsprop_step(const RmspropStep<T>& a, KernelContext& context) {
  start<T>(context, "rmsprop_step", over_vector(context.device(), kStyle, a.count), a.lr, a.alpha, a.eps, a.g, a.w, a.v,
           a.count);
}

/// `partial` lies on the device.
template <class T>
void square_sums(const SquareSums<T>& a, KernelContext& context) {
  const std::int64_t blocks = divide_up(a.count, kSquareBlock);
  start<T>(context, "square_sums", over_vector(context.device(), Style::naive, blocks), a.x, a.partial, a.count);
}

template <class T>
void running_update(const RunningUpdate<T>& a, KernelContext& context) {
  start<T>(context, "running_update", over_vector(context.device(), Style::naive, a.count), a.momentum, a.elements,
           a.sum, a.running, a.count);
}

}  // namespace

template <class T, Style kStyle>
void add_optimizers(KernelTable<T>& table) {
  table.add_l2 = {table.backend, &add_l2<T, kStyle>};
  table.scale_gradient = {table.backend, &scale_gradient<T, kStyle>};
  table.sgd_step = {table.backend, &sgd_step<T, kStyle>};
  table.adam_step = {table.backend, &adam_step<T, kStyle>};
  table.rmsprop_step = {table.backend, &rmsprop_step<T, kStyle>};
  table.square_sums = {table.backend, &square_sums<T>};
  table.running_update = {table.backend, &running_update<T>};
}

LOCKSTEP_INSTANTIATE_STYLES(add_optimizers);

}  // namespace lockstep::device
