#pragma once
// A sequence [features, steps] of a chunk of samples: row f * steps + t of its activation is feature f at step t. Step
// t is a matrix whose rows lie `steps` rows apart; all steps side by side are one matrix of a column per step and
// sample (and the columns that pad each step, which nobody reads).

#include "lockstep/tensor/view.hpp"

namespace lockstep {

template <class T>
struct Steps {
  T* data = nullptr;
  std::int64_t rows = 0, steps = 0, samples = 0, stride = 0;

  /// [rows, samples]
  MatrixView<T> at(std::int64_t step) const { return {data + step * stride, rows, samples, steps * stride}; }
  /// [rows, steps * stride], without what pads the last step
  MatrixView<T> all() const { return {data, rows, (steps - 1) * stride + samples, steps * stride}; }

  operator Steps<const T>() const requires(!std::is_const_v<T>) { return {data, rows, steps, samples, stride}; }
};

/// work(from, to) on all steps: at once where steps lie equally far apart in both. For work whose columns have nothing
/// to do with each other.
template <class T, class Work>
void for_all_steps(const Steps<const T>& from, const Steps<T>& to, const Work& work) {
  if (from.stride == to.stride) return work(from.all(), to.all());
  for (std::int64_t t = 0; t < from.steps; ++t) work(from.at(t), to.at(t));
}

}  // namespace lockstep
