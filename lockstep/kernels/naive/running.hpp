#pragma once
#include "lockstep/kernels/naive/variant.hpp"
#include "lockstep/kernels/running.hpp"

namespace lockstep::LOCKSTEP_NAIVE {

template <class T>
void running_update(const RunningUpdate<T>& a) {
  const T rest = T(1) - a.momentum;
  for (std::int64_t c = 0; c < a.count; ++c) {
    const T kept = rest * a.running[c];
    a.running[c] = kept + a.momentum * (a.sum[c] / a.elements);
  }
}

}  // namespace lockstep::LOCKSTEP_NAIVE
