// Optimiser steps, sums of squares, running statistics.
#include <vector>

#include "lockstep/kernels/device/launch.hpp"
#include "lockstep/kernels/device/ranges.hpp"

namespace lockstep::device {

template <class T, Style kStyle>
void add_l2(const AddL2<T>& a, KernelContext& context) {
  start<T>(context, "add_l2", over_vector(context.device(), kStyle, a.count), a.l2, a.w, a.g, a.count);
}

template <class T, Style kStyle>
void scale_gradient(const ScaleGradient<T>& a, KernelContext& context) {
  start<T>(context, "scale_gradient", over_vector(context.device(), kStyle, a.count), a.factor, a.g, a.count);
}

namespace {

/// Groups for every stretch, and where they are, as text/optimizer.h takes it.
struct Stretches {
  Shape shape;
  std::vector<std::int64_t> places;
  std::int64_t count = 0;

  Stretches(const Device& device, Ranges ranges) {
    std::int64_t groups = 0;
    for (std::size_t k = 0; k + 1 < ranges.size(); k += 2) {
      if (ranges[k] == ranges[k + 1]) continue;
      shape = over_vector(device, Style::tuned, ranges[k + 1] - ranges[k]);
      places.insert(places.end(), {groups, ranges[k], ranges[k + 1]});
      groups += shape.groups[0];
      ++count;
    }
    places.push_back(groups);
    shape.groups[0] = groups;
  }
};

}  // namespace

template <class T>
void scale_ranges(KernelContext& context, T factor, T* g, Ranges ranges) {
  const Stretches all(context.device(), ranges);
  start<T>(context, "scale_ranges", all.shape, factor, g, context.device().constant(all.places), all.count);
}

template <class T>
void add_l2_ranges(KernelContext& context, T l2, const T* w, T* g, Ranges ranges) {
  const Stretches all(context.device(), ranges);
  start<T>(context, "add_l2_ranges", all.shape, l2, w, g, context.device().constant(all.places), all.count);
}

template void scale_ranges(KernelContext&, float, float*, Ranges);
template void scale_ranges(KernelContext&, double, double*, Ranges);
template void add_l2_ranges(KernelContext&, float, const float*, float*, Ranges);
template void add_l2_ranges(KernelContext&, double, const double*, double*, Ranges);

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

template <class T, Style kStyle>
void lion_step(const LionStep<T>& a, KernelContext& context) {
  start<T>(context, "lion_step", over_vector(context.device(), kStyle, a.count), a.lr, a.beta1, a.beta2, a.decay_factor,
           a.g, a.w, a.m, a.count);
}

/// `partial` lies on the device.
template <class T, Style kStyle>
void square_sums(const SquareSums<T>& a, KernelContext& context) {
  const std::int64_t blocks = divide_up(a.count, kSquareBlock);
  if (kStyle == Style::tuned && !context.device().info().is_cpu) {
    start<T>(context, "square_sums_fetched", {.groups = {blocks, 1, 1}, .group_size = {kGroup, 1, 1}}, a.x, a.partial,
             a.count);
    return;
  }
  start<T>(context, "square_sums", over_vector(context.device(), Style::naive, blocks), a.x, a.partial, a.count);
}

template <class T, Style kStyle>
void running_update(const RunningUpdate<T>& a, KernelContext& context) {
  start<T>(context, "running_update", over_vector(context.device(), Style::naive, a.count), a.momentum, a.elements,
           a.sum, a.running, a.count);
}

LOCKSTEP_DEVICE_INSTANTIATE(add_l2, AddL2)
LOCKSTEP_DEVICE_INSTANTIATE(scale_gradient, ScaleGradient)
LOCKSTEP_DEVICE_INSTANTIATE(sgd_step, SgdStep)
LOCKSTEP_DEVICE_INSTANTIATE(adam_step, AdamStep)
LOCKSTEP_DEVICE_INSTANTIATE(rmsprop_step, RmspropStep)
LOCKSTEP_DEVICE_INSTANTIATE(lion_step, LionStep)
LOCKSTEP_DEVICE_INSTANTIATE(square_sums, SquareSums)
LOCKSTEP_DEVICE_INSTANTIATE(running_update, RunningUpdate)

}  // namespace lockstep::device
