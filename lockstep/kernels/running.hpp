#pragma once
// The running statistics of batch normalisation, after a batch:
//   running = (1 - momentum) * running + momentum * (sum / elements), without fma
// where `sum` is BatchNormForward's sum_mean or sum_var over all slots.

#include <cstdint>

namespace lockstep {

template <class T>
struct RunningUpdate {
  std::int64_t count;  // channels
  T momentum, elements;
  const T* sum;
  T* running;
};

}  // namespace lockstep
