#pragma once
// The lane tree in two parts, where one vector holds the 16 lanes of a sum. The upper levels of four sums give one
// vector: 4 lanes of the first sum, then 4 of the second and so on. The lower levels of four such vectors give 16
// totals. A tile does the upper ones in its registers, so a quarter of its lanes go to memory.

#include "lockstep/kernels/simd/kernels.hpp"
#include "lockstep/kernels/simd/lanes.hpp"
#include "lockstep/kernels/simd/mask.hpp"

namespace lockstep::LOCKSTEP_SIMD {

inline constexpr int kFolded = 4;  // sums in a vector, and lanes of each

namespace detail {

/// Lanes without the bit kBit in their number of a, those with it of b.
template <int kBit, class T, int... kLane>
LOCKSTEP_INLINE Vec<T> alternate(Vec<T> a, Vec<T> b, std::integer_sequence<int, kLane...>) {
#if defined(__AVX512F__) && LOCKSTEP_SIMD_BYTES == 64
  constexpr unsigned kMask = ((((kLane & kBit) != 0 ? 1U : 0U) << kLane) | ...);
  return select(Mask<T>{static_cast<decltype(Mask<T>::bits)>(kMask)}, b, a);  // GCC would move halves by a shuffle
#else
  return {__builtin_shufflevector(a.v, b.v, ((kLane & kBit) == 0 ? kLane : Vec<T>::kWidth + kLane)...)};
#endif
}

/// One level of two trees: a's lanes kDistance apart are added up in the lanes without that bit, b's in those with it.
/// Two choices by lane and one move: exchanging lanes of a and b would take two moves, which have fewer units.
template <int kDistance, class T, int... kLane>
LOCKSTEP_INLINE Vec<T> fold_pair(Vec<T> a, Vec<T> b, std::integer_sequence<int, kLane...> lanes) {
  Vec<T> moving = alternate<kDistance>(b, a, lanes);
  keep_in_register(moving);  // else GCC makes one general permutation of a and b
  return alternate<kDistance>(a, b, lanes) +
         Vec<T>{__builtin_shufflevector(moving.v, moving.v, (kLane ^ kDistance)...)};
}
template <int kDistance, class T>
LOCKSTEP_INLINE Vec<T> fold_pair(Vec<T> a, Vec<T> b) {
  return fold_pair<kDistance>(a, b, Lanes<T>{});
}

}  // namespace detail

/// The upper levels. Missing sums may be anything.
template <class T>
LOCKSTEP_INLINE Vec<T> fold_upper(Vec<T> a, Vec<T> b, Vec<T> c, Vec<T> d) {
  return detail::fold_pair<4>(detail::fold_pair<8>(a, c), detail::fold_pair<8>(b, d));
}

/// The lower levels of four vectors: lane 4 i + v is the total of sum i of vector v.
template <class T>
LOCKSTEP_INLINE Vec<T> fold_lower(const T* folded) {
  const auto vector = [&](int v) LOCKSTEP_INLINE_LAMBDA { return load(folded + v * kLanes); };
  return detail::fold_pair<1>(detail::fold_pair<2>(vector(0), vector(2)), detail::fold_pair<2>(vector(1), vector(3)));
}

/// Writes what fold_lower gives: the totals of `sums` sums, each of `vectors` vectors, to places `step` apart.
template <class T>
LOCKSTEP_INLINE void store_totals(Vec<T> totals, T* to, std::int64_t step, std::int64_t sums, std::int64_t vectors) {
  T all[kLanes];
  store(all, totals);
  for (std::int64_t i = 0; i < sums; ++i, to += step)
    if (vectors == kFolded)
      __builtin_memcpy(to, all + i * kFolded, sizeof(T) * kFolded);
    else
      for (std::int64_t v = 0; v < vectors; ++v) to[v] = all[i * kFolded + v];
}

}  // namespace lockstep::LOCKSTEP_SIMD
