#pragma once
// The 16 virtual lanes of a sum over samples (slots.hpp) in registers: kLanes / width vectors.

#include "lockstep/kernels/simd/transpose.hpp"
#include "lockstep/kernels/slots.hpp"

namespace lockstep::LOCKSTEP_SIMD {

/// Vectors that hold the virtual lanes.
template <class T>
inline constexpr int kLaneVecs = static_cast<int>(kLanes) / Vec<T>::kWidth;

namespace detail {

/// The upper levels of the lane tree, where lanes 8 (4, 2) apart lie in different vectors.
template <int kCount, class T>
LOCKSTEP_INLINE Vec<T> fold_vectors(const T* lanes) {
  Vec<T> v[kCount];
#pragma GCC unroll 8
  for (int i = 0; i < kCount; ++i) v[i] = load(lanes + i * Vec<T>::kWidth);
#pragma GCC unroll 4
  for (int half = kCount / 2; half > 0; half /= 2)
#pragma GCC unroll 8
    for (int i = 0; i < half; ++i) v[i] = v[i] + v[i + half];
  return v[0];
}

/// The lower levels, for 2 * kDistance sums at once, numbers first, first + step, ...: the lanes of two sums that are
/// still to be added change places, so one addition serves both.
template <int kDistance, class T>
LOCKSTEP_INLINE Vec<T> fold_sums(const T* lanes, int first, int step) {
  if constexpr (kDistance == 0) {
    return fold_vectors<kLaneVecs<T>>(lanes + first * kLanes);
  } else {
    constexpr int kHalf = Vec<T>::kWidth / 2 / kDistance;  // the distance of this level: width/2 at the leaves
    Vec<T> a = fold_sums<kDistance / 2>(lanes, first, 2 * step);
    Vec<T> b = fold_sums<kDistance / 2>(lanes, first + step, 2 * step);
    exchange<kHalf>(a, b, Lanes<T>{});
    return a + b;
  }
}

}  // namespace detail

/// The lane trees of width sums: sum i has its 16 lanes at lanes + 16 i; lane i of the result is its total.
template <class T>
LOCKSTEP_INLINE Vec<T> lane_trees(const T* lanes) {
  return detail::fold_sums<Vec<T>::kWidth / 2>(lanes, 0, 1);
}

}  // namespace lockstep::LOCKSTEP_SIMD
