#pragma once
// A stretch of the parameter vector in one optimiser step: what the step() of an optimiser's record is given.

#include <cstdint>

#include "lockstep/kernels/table.hpp"

namespace lockstep {

template <class T>
struct StepRange {
  double rate;        // the learning rate of this step
  std::int64_t step;  // from 0
  bool decays;        // these are weights: optimisers with weight_decay get tensors one by one
  std::int64_t count;
  const T* g;
  T* w;
  T *first, *second;  // state vectors; null where the optimiser has none
  const KernelTable<T>& kernels;
  KernelContext& context;

  /// 1 - beta^(step + 1), by squaring: the same bits everywhere, and no state to keep between steps.
  double bias(double beta) const {
    double power = 1;
    for (std::int64_t n = step + 1; n > 0; n /= 2, beta *= beta)
      if (n % 2 == 1) power *= beta;
    return 1 - power;
  }
  /// The factor of the weights under decoupled decay.
  T decay_factor(double weight_decay) const { return decays ? T(1 - rate * weight_decay) : T(1); }
};

}  // namespace lockstep
