#pragma once
// Layers that treat every step of a sequence [features, steps] alike: the steps of an activation as matrices, and in
// the order in which sums over (step, sample) take them.

#include <algorithm>
#include <array>
#include <span>

#include "lockstep/nn/layer.hpp"
#include "lockstep/nn/steps.hpp"

namespace lockstep {

/// An activation of `features` rows at each of `steps` steps.
template <class T>
Steps<T> steps_of(const MatrixView<T>& matrix, std::int64_t steps) {
  return {matrix.data, matrix.rows / steps, steps, matrix.cols, matrix.stride};
}

/// The slots of a pass times `steps`: those of packed_steps.
class StepSlots {
 public:
  StepSlots(const Slots& slots, std::int64_t steps) : count_(slots.bounds.size()) {
    std::ranges::transform(slots.bounds, bounds_.begin(), [&](std::int64_t bound) { return bound * steps; });
  }
  Slots slots() const { return {std::span(bounds_).first(count_)}; }

 private:
  std::array<std::int64_t, kMaxSlots + 1> bounds_;  // NOLINT: filled as far as it is used
  std::size_t count_;
};

/// Steps in the order in which the sums over a slot take them (kernels/recurrent.hpp): in `to`, or as they are.
template <class T>
ConstMatrix<T> packed_steps(const Pass<T>& pass, const Steps<const T>& from, std::int64_t shift, T* to) {
  if (shift == 0 && pass.slots.count() == 1 && from.stride == from.samples) return from.all();
  const Matrix<T> result = dense_matrix(to, from.rows, from.steps * from.samples);
  pass.kernels.pack_steps({.from = from.all(),
                           .steps = from.steps,
                           .step_stride = from.stride,
                           .shift = shift,
                           .slots = pass.slots,
                           .to = result},
                          pass.context);
  return result;
}

/// y = w x + b at every step.
template <class T>
void linear_steps(const Pass<T>& pass, const Steps<const T>& x, ConstMatrix<T> w, const T* b, const Steps<T>& y) {
  for_all_steps(x, y, [&](ConstMatrix<T> from, Matrix<T> to) {
    pass.kernels.linear_forward({.x = from, .w = w, .b = b, .y = to}, pass.context);
  });
}

/// dx = w^T dy at every step.
template <class T>
void linear_steps_data(const Pass<T>& pass, ConstMatrix<T> w, const Steps<const T>& dy, const Steps<T>& dx) {
  for_all_steps(dy, dx, [&](ConstMatrix<T> from, Matrix<T> to) {
    pass.kernels.linear_backward_data({.w = w, .dy = from, .dx = to}, pass.context);
  });
}

/// dw = dy x^T and db, summed over steps and samples. `space` has room for x and dy of all steps, packed.
template <class T>
void linear_steps_weights(const Pass<T>& pass, const Steps<const T>& x, const Steps<const T>& dy, T* dw, T* db,
                          T* space) {
  const StepSlots slots(pass.slots, x.steps);
  const ConstMatrix<T> packed_x = packed_steps(pass, x, 0, space);
  const ConstMatrix<T> packed_dy = packed_steps(pass, dy, 0, space + x.rows * x.steps * x.samples);
  pass.kernels.linear_backward_weights(
      {.x = packed_x, .dy = packed_dy, .slots = slots.slots(), .dw = dense_matrix(dw, dy.rows, x.rows), .db = db},
      pass.context);
}

}  // namespace lockstep
