#include "lockstep/distribute/step_targets.hpp"

#include <algorithm>

namespace lockstep {

template <class T>
void StepTargets<T>::gather(const Dataset& data, std::span<const std::int64_t> ids, std::int64_t stride,
                            std::int32_t* labels, std::span<const std::int64_t> lengths, T* weights) {
  const auto samples = static_cast<std::int64_t>(ids.size()), steps = data.target_size();
  if (values_.size() < steps * stride) values_ = AlignedBuffer<T>(steps * stride);
  const Matrix<T> values{values_.data(), steps, samples, stride};
  data.targets(ids, values);
  std::fill_n(labels, steps * stride, 0);
  for (std::int64_t t = 0; t < steps; ++t)
    for (std::int64_t s = 0; s < samples; ++s) labels[t * stride + s] = static_cast<std::int32_t>(values(t, s));
  if (weights == nullptr) return;
  std::fill_n(weights, steps * stride, T(0));
  for (std::int64_t s = 0; s < samples; ++s)
    for (std::int64_t t = 0; t < lengths[static_cast<std::size_t>(s)]; ++t) weights[t * stride + s] = T(1);
}

template class StepTargets<float>;
template class StepTargets<double>;

}  // namespace lockstep
