#pragma once
// Comparison and choice, lane by lane, and the ends of rows. A mask is a vector of all ones and zeros; with AVX-512 it
// lives in a mask register, where comparisons put it and from where a choice takes it: GCC 12 makes a vector of it
// first when asked to choose by one.

#include "lockstep/kernels/simd/vec.hpp"

namespace lockstep::LOCKSTEP_SIMD {

#if defined(__AVX512F__) && LOCKSTEP_SIMD_BYTES == 64

template <class T>
struct Mask {
  std::conditional_t<sizeof(T) == 4, __mmask16, __mmask8> bits;
};

namespace detail {

template <class T, int kPredicate>
LOCKSTEP_INLINE Mask<T> compare(Vec<T> a, Vec<T> b) {
  if constexpr (sizeof(T) == 4)
    return {_mm512_cmp_ps_mask((__m512)a.v, (__m512)b.v, kPredicate)};
  else
    return {_mm512_cmp_pd_mask((__m512d)a.v, (__m512d)b.v, kPredicate)};
}
template <class T, int kPredicate>
LOCKSTEP_INLINE Mask<T> compare_bits(typename Vec<T>::Bits a, typename Vec<T>::Bits b) {
  if constexpr (sizeof(T) == 4)
    return {_mm512_cmp_epu32_mask((__m512i)a, (__m512i)b, kPredicate)};
  else
    return {_mm512_cmp_epu64_mask((__m512i)a, (__m512i)b, kPredicate)};
}

}  // namespace detail

template <class T>
LOCKSTEP_INLINE Mask<T> operator<(Vec<T> a, Vec<T> b) {
  return detail::compare<T, _CMP_LT_OQ>(a, b);
}
template <class T>
LOCKSTEP_INLINE Mask<T> operator>(Vec<T> a, Vec<T> b) {
  return detail::compare<T, _CMP_GT_OQ>(a, b);
}
template <class T>
LOCKSTEP_INLINE Mask<T> operator==(Vec<T> a, Vec<T> b) {
  return detail::compare<T, _CMP_EQ_OQ>(a, b);
}
/// a == b of whole numbers.
template <class T>
LOCKSTEP_INLINE Mask<T> equal_bits(typename Vec<T>::Bits a, typename Vec<T>::Bits b) {
  return detail::compare_bits<T, _MM_CMPINT_EQ>(a, b);
}
/// a >= b of whole numbers without a sign.
template <class T>
LOCKSTEP_INLINE Mask<T> at_least(typename Vec<T>::Bits a, typename Vec<T>::Bits b) {
  return detail::compare_bits<T, _MM_CMPINT_NLT>(a, b);
}
template <class T>
LOCKSTEP_INLINE Mask<T> operator&(Mask<T> a, Mask<T> b) {
  return {static_cast<decltype(a.bits)>(a.bits & b.bits)};
}
template <class T>
LOCKSTEP_INLINE Mask<T> operator~(Mask<T> a) {
  return {static_cast<decltype(a.bits)>(~a.bits)};
}

/// yes where the mask is set, else no.
template <class T>
LOCKSTEP_INLINE Vec<T> select(Mask<T> mask, Vec<T> yes, Vec<T> no) {
  using Native = typename Vec<T>::Native;
  if constexpr (sizeof(T) == 4)
    return {(Native)_mm512_mask_blend_ps(mask.bits, (__m512)no.v, (__m512)yes.v)};
  else
    return {(Native)_mm512_mask_blend_pd(mask.bits, (__m512d)no.v, (__m512d)yes.v)};
}

/// a where the mask is set, else +0.
template <class T>
LOCKSTEP_INLINE Vec<T> keep(Mask<T> mask, Vec<T> a) {
  using Native = typename Vec<T>::Native;
  if constexpr (sizeof(T) == 4)
    return {(Native)_mm512_maskz_mov_ps(mask.bits, (__m512)a.v)};
  else
    return {(Native)_mm512_maskz_mov_pd(mask.bits, (__m512d)a.v)};
}

/// The lanes [0, count).
template <class T>
LOCKSTEP_INLINE Mask<T> first_lanes(std::int64_t count) {
  return {static_cast<decltype(Mask<T>::bits)>((1U << count) - 1)};
}

#else

template <class T>
struct Mask {
  typename Vec<T>::Bits bits;
};

template <class T>
LOCKSTEP_INLINE Mask<T> operator<(Vec<T> a, Vec<T> b) {
  return {(typename Vec<T>::Bits)(a.v < b.v)};
}
template <class T>
LOCKSTEP_INLINE Mask<T> operator>(Vec<T> a, Vec<T> b) {
  return {(typename Vec<T>::Bits)(a.v > b.v)};
}
template <class T>
LOCKSTEP_INLINE Mask<T> operator==(Vec<T> a, Vec<T> b) {
  return {(typename Vec<T>::Bits)(a.v == b.v)};
}
/// a == b of whole numbers.
template <class T>
LOCKSTEP_INLINE Mask<T> equal_bits(typename Vec<T>::Bits a, typename Vec<T>::Bits b) {
  return {(typename Vec<T>::Bits)(a == b)};
}
/// a >= b of whole numbers without a sign.
template <class T>
LOCKSTEP_INLINE Mask<T> at_least(typename Vec<T>::Bits a, typename Vec<T>::Bits b) {
  return {(typename Vec<T>::Bits)(a >= b)};
}
template <class T>
LOCKSTEP_INLINE Mask<T> operator&(Mask<T> a, Mask<T> b) {
  return {a.bits & b.bits};
}
template <class T>
LOCKSTEP_INLINE Mask<T> operator~(Mask<T> a) {
  return {~a.bits};
}

/// yes where the mask is set, else no.
template <class T>
LOCKSTEP_INLINE Vec<T> select(Mask<T> mask, Vec<T> yes, Vec<T> no) {
  using Bits = typename Vec<T>::Bits;
  return {(typename Vec<T>::Native)((mask.bits & (Bits)yes.v) | (~mask.bits & (Bits)no.v))};
}

/// a where the mask is set, else +0.
template <class T>
LOCKSTEP_INLINE Vec<T> keep(Mask<T> mask, Vec<T> a) {
  using Bits = typename Vec<T>::Bits;
  return {(typename Vec<T>::Native)(mask.bits & (Bits)a.v)};
}

/// The lanes [0, count).
template <class T>
LOCKSTEP_INLINE Mask<T> first_lanes(std::int64_t count) {
  using Bits = typename Vec<T>::Bits;
  using Word = typename Vec<T>::Word;
  const Bits lane = detail::count_up<Bits, Word>(detail::Lanes<T>{});
  const Bits limit = detail::splat<Bits>(static_cast<Word>(count), detail::Lanes<T>{});
  return {(Bits)(lane < limit)};
}

#endif

/// a > b ? a : b, lane by lane: b where either is NaN, and of two zeros b. That is the rule of x86's instruction.
template <class T>
LOCKSTEP_INLINE Vec<T> larger(Vec<T> a, Vec<T> b) {
  [[maybe_unused]] constexpr bool kFloat = sizeof(T) == 4;
  using Native [[maybe_unused]] = typename Vec<T>::Native;
#if defined(__AVX512F__) && LOCKSTEP_SIMD_BYTES == 64
  // Zero-masked for the reason that sqrt gives.
  if constexpr (kFloat)
    return {(Native)_mm512_maskz_max_ps(static_cast<__mmask16>(-1), (__m512)a.v, (__m512)b.v)};
  else
    return {(Native)_mm512_maskz_max_pd(static_cast<__mmask8>(-1), (__m512d)a.v, (__m512d)b.v)};
#elif defined(__AVX__) && LOCKSTEP_SIMD_BYTES == 32
  if constexpr (kFloat)
    return {(Native)_mm256_max_ps((__m256)a.v, (__m256)b.v)};
  else
    return {(Native)_mm256_max_pd((__m256d)a.v, (__m256d)b.v)};
#elif defined(__x86_64__) && LOCKSTEP_SIMD_BYTES == 16
  if constexpr (kFloat)
    return {(Native)_mm_max_ps((__m128)a.v, (__m128)b.v)};
  else
    return {(Native)_mm_max_pd((__m128d)a.v, (__m128d)b.v)};
#else
  return select(a > b, a, b);
#endif
}

/// The lanes [0, count) of a vector at the end of a row: loads give 0 in the others and stores leave them alone.
/// Memory beyond the last lane is never touched.
template <class T>
struct Tail {
  std::int64_t count;
  Mask<T> mask;
};

template <class T>
LOCKSTEP_INLINE Tail<T> tail_of(std::int64_t count) {
  return {count, first_lanes<T>(count)};
}
template <class T>
LOCKSTEP_INLINE Vec<T> load(const T* from, const Tail<T>& tail) {
#if defined(__AVX2__) && LOCKSTEP_SIMD_BYTES == 32
  if constexpr (sizeof(T) == 4)
    return {(typename Vec<T>::Native)_mm256_maskload_ps(from, (__m256i)tail.mask.bits)};
  else
    return {(typename Vec<T>::Native)_mm256_maskload_pd(from, (__m256i)tail.mask.bits)};
#elif defined(__AVX512F__) && LOCKSTEP_SIMD_BYTES == 64
  if constexpr (sizeof(T) == 4)
    return {(typename Vec<T>::Native)_mm512_maskz_loadu_ps(tail.mask.bits, from)};
  else
    return {(typename Vec<T>::Native)_mm512_maskz_loadu_pd(tail.mask.bits, from)};
#else
  Vec<T> result = zero<T>();
  for (std::int64_t lane = 0; lane < tail.count; ++lane) result.v[lane] = from[lane];
  return result;
#endif
}
namespace detail {

/// The first `count` of 2 * kPiece - 1 lanes or fewer, in pieces of a power of two.
template <int kPiece, class T>
LOCKSTEP_INLINE void store_pieces(T* to, const T* from, std::int64_t count) {
  if ((count & kPiece) != 0) {
    __builtin_memcpy(to, from, kPiece * sizeof(T));
    to += kPiece;
    from += kPiece;
  }
  if constexpr (kPiece > 1) store_pieces<kPiece / 2>(to, from, count);
}

}  // namespace detail

template <class T>
LOCKSTEP_INLINE void store(T* to, Vec<T> a, const Tail<T>& tail) {
#if defined(__AVX512F__) && LOCKSTEP_SIMD_BYTES == 64
  if constexpr (sizeof(T) == 4)
    _mm512_mask_storeu_ps(to, tail.mask.bits, (__m512)a.v);
  else
    _mm512_mask_storeu_pd(to, tail.mask.bits, (__m512d)a.v);
#else
  // Not AVX2's masked store: that one takes Zen 3 more than a dozen cycles.
  T lanes[Vec<T>::kWidth];
  store(lanes, a);
  detail::store_pieces<Vec<T>::kWidth>(to, lanes, tail.count);
#endif
}

/// A row without an end in it: the same calls with Whole instead of Tail take the full vector.
struct Whole {};
template <class T>
LOCKSTEP_INLINE Vec<T> load(const T* from, Whole) {
  return load(from);
}
template <class T>
LOCKSTEP_INLINE void store(T* to, Vec<T> a, Whole) {
  store(to, a);
}

}  // namespace lockstep::LOCKSTEP_SIMD
