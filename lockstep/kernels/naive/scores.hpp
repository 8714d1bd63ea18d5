#pragma once
#include "lockstep/kernels/naive/variant.hpp"
#include "lockstep/kernels/scores.hpp"

namespace lockstep::LOCKSTEP_NAIVE {

template <class T>
std::int32_t predicted_class(ConstMatrix<T> z, std::int64_t sample, Loss loss) {
  if (z.rows == 1) return z(0, sample) >= (loss == Loss::squared_error ? T(0.5) : T(0)) ? 1 : 0;
  std::int64_t best = 0;
  for (std::int64_t k = 1; k < z.rows; ++k)
    if (z(k, sample) > z(best, sample)) best = k;
  return static_cast<std::int32_t>(best);
}

template <class T>
void score_slots(const ScoreSlots<T>& a) {
  for (std::int64_t slot = 0; slot < a.slots.count(); ++slot) {
    double sum = 0;
    std::int64_t correct = 0;
    for (std::int64_t s = a.slots.begin(slot); s < a.slots.end(slot); ++s) {
      sum += static_cast<double>(a.loss[s]);
      if (a.labels != nullptr && predicted_class(a.z, s, a.kind) == a.labels[s]) ++correct;
    }
    a.sum[slot] = sum;
    a.correct[slot] = correct;
  }
}

}  // namespace lockstep::LOCKSTEP_NAIVE
