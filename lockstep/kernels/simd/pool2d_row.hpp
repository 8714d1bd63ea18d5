#pragma once
// Vectors of every pixel, or every second one, of a row: what pooling of a single sample needs, whose pixels lie side
// by side. Nothing beyond the last pixel wanted is read.

#include "lockstep/kernels/simd/ops.hpp"

namespace lockstep::LOCKSTEP_SIMD {

namespace detail {

/// Lanes 0, 2, 4, ... of low, then 1, 3, 5, ... of high.
template <class T, int... kLane>
LOCKSTEP_INLINE Vec<T> every_second(Vec<T> low, Vec<T> high, std::integer_sequence<int, kLane...>) {
  return {__builtin_shufflevector(low.v, high.v, (2 * kLane < Vec<T>::kWidth ? 2 * kLane : 2 * kLane + 1)...)};
}

}  // namespace detail

/// Elements 0, kStep, 2 kStep, ... from `from` on, as many as `end` says.
template <int kStep, class T>
LOCKSTEP_INLINE Vec<T> load_spread(const T* from, Whole end) {
  if constexpr (kStep == 1)
    return load(from, end);
  else
    return detail::every_second(load(from), load(from + Vec<T>::kWidth - 1), detail::Lanes<T>{});
}
template <int kStep, class T>
LOCKSTEP_INLINE Vec<T> load_spread(const T* from, const Tail<T>& end) {
  if constexpr (kStep == 1) {
    return load(from, end);
  } else {
    constexpr std::int64_t kWidth = Vec<T>::kWidth;
    const std::int64_t wanted = 2 * end.count - 1;
    return detail::every_second(load(from, tail_of<T>(least(wanted, kWidth))),
                                load(from + kWidth - 1, tail_of<T>(most(wanted - kWidth + 1, 0))), detail::Lanes<T>{});
  }
}

}  // namespace lockstep::LOCKSTEP_SIMD
