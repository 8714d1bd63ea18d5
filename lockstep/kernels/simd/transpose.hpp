#pragma once
// Transposition of a square of vectors in registers: log2(width) rounds; the round of distance d exchanges, between
// rows r and r + d, the off-diagonal blocks of d lanes.

#include "lockstep/kernels/simd/vec.hpp"

namespace lockstep::LOCKSTEP_SIMD {

namespace detail {

/// Lanes of low without bit kDistance, then those of high in the places with that bit.
template <int kDistance, class T, int... kLane>
LOCKSTEP_INLINE void exchange(Vec<T>& low, Vec<T>& high, std::integer_sequence<int, kLane...>) {
  constexpr int kWidth = Vec<T>::kWidth;
  const auto a = low.v, b = high.v;
  low.v = __builtin_shufflevector(a, b, ((kLane & kDistance) == 0 ? kLane : kWidth + kLane - kDistance)...);
  high.v = __builtin_shufflevector(a, b, ((kLane & kDistance) == 0 ? kLane + kDistance : kWidth + kLane)...);
}

template <int kDistance, class T>
LOCKSTEP_INLINE void transpose_round(Vec<T> (&rows)[Vec<T>::kWidth]) {
#pragma GCC unroll 16
  for (int r = 0; r < Vec<T>::kWidth; ++r)
    if ((r & kDistance) == 0) exchange<kDistance>(rows[r], rows[r + kDistance], Lanes<T>{});
  if constexpr (kDistance > 1) transpose_round<kDistance / 2>(rows);
}

}  // namespace detail

/// rows[r] lane c becomes rows[c] lane r.
template <class T>
LOCKSTEP_INLINE void transpose(Vec<T> (&rows)[Vec<T>::kWidth]) {
  detail::transpose_round<Vec<T>::kWidth / 2>(rows);
}

/// to[c * to_stride + r] = from[r * from_stride + c] for r < rows <= kWidth, c < cols; whole vectors are written, so
/// each row of `to` needs room for kWidth elements (those beyond `rows` become 0). Only the elements named are read.
template <class T>
LOCKSTEP_INLINE void transpose_strip(const T* from, std::int64_t from_stride, std::int64_t rows, std::int64_t cols,
                                     T* to, std::int64_t to_stride) {
  constexpr std::int64_t kWidth = Vec<T>::kWidth;
  Vec<T> square[kWidth];
  std::int64_t c = 0;
  if (rows == kWidth)
    for (; c + kWidth <= cols; c += kWidth) {
#pragma GCC unroll 16
      for (std::int64_t r = 0; r < kWidth; ++r) square[r] = load(from + r * from_stride + c);
      transpose(square);
#pragma GCC unroll 16
      for (std::int64_t r = 0; r < kWidth; ++r) store(to + (c + r) * to_stride, square[r]);
    }
  for (; c < cols; ++c)
    for (std::int64_t r = 0; r < kWidth; ++r) to[c * to_stride + r] = r < rows ? from[r * from_stride + c] : T(0);
}

}  // namespace lockstep::LOCKSTEP_SIMD
