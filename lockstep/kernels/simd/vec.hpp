#pragma once
// Vec<T>: one vector register of T, on the vector types of GCC and Clang. Every operation is the IEEE one, lane by
// lane, so a kernel written with Vec gives the scalar loop's bits at every width. See docs/design/0002-simd.md.

#include <type_traits>
#include <utility>

#include "lockstep/kernels/math/ops.hpp"
#include "lockstep/kernels/simd/isa.hpp"

namespace lockstep::LOCKSTEP_SIMD {

template <class T>
struct Vec {
  static constexpr int kWidth = kVectorBytes / static_cast<int>(sizeof(T));
  using Word = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  using Native __attribute__((vector_size(kVectorBytes))) = T;
  using Bits __attribute__((vector_size(kVectorBytes))) = Word;

  Native v;
};

namespace detail {

template <class Vector, class Scalar, int... kLane>
LOCKSTEP_INLINE Vector splat(Scalar value, std::integer_sequence<int, kLane...>) {
  return Vector{(static_cast<void>(kLane), value)...};
}
template <class Vector, class Scalar, int... kLane>
LOCKSTEP_INLINE Vector count_up(std::integer_sequence<int, kLane...>) {
  return Vector{static_cast<Scalar>(kLane)...};
}
template <class T>
using Lanes = std::make_integer_sequence<int, Vec<T>::kWidth>;

}  // namespace detail

template <class T>
LOCKSTEP_INLINE Vec<T> broadcast(T value) {
  return {detail::splat<typename Vec<T>::Native>(value, detail::Lanes<T>{})};
}
template <class T>
LOCKSTEP_INLINE Vec<T> zero() {
  return {typename Vec<T>::Native{}};
}

// ---- arithmetic ----
template <class T>
LOCKSTEP_INLINE Vec<T> operator+(Vec<T> a, Vec<T> b) {
  return {a.v + b.v};
}
template <class T>
LOCKSTEP_INLINE Vec<T> operator-(Vec<T> a, Vec<T> b) {
  return {a.v - b.v};
}
template <class T>
LOCKSTEP_INLINE Vec<T> operator*(Vec<T> a, Vec<T> b) {
  return {a.v * b.v};
}
template <class T>
LOCKSTEP_INLINE Vec<T> operator/(Vec<T> a, Vec<T> b) {
  return {a.v / b.v};
}
template <class T>
LOCKSTEP_INLINE Vec<T> operator-(Vec<T> a) {
  return {-a.v};
}

// Where every lane is a call of the library, inlining would fill the loops with calls: half the time of compiling them.
#if defined(__x86_64__) && !defined(__FMA__)
#define LOCKSTEP_BY_LANES LOCKSTEP_NOINLINE
#else
#define LOCKSTEP_BY_LANES LOCKSTEP_INLINE
#endif

/// a * b + c, rounded once, without a vector fma: exact, and slow where the processor has none at all.
template <class T>
LOCKSTEP_BY_LANES Vec<T> fma_by_lanes(Vec<T> a, Vec<T> b, Vec<T> c) {
  Vec<T> result = c;
  for (int lane = 0; lane < Vec<T>::kWidth; ++lane) {
    if constexpr (sizeof(T) == 4)
      result.v[lane] = __builtin_fmaf(a.v[lane], b.v[lane], c.v[lane]);
    else
      result.v[lane] = __builtin_fma(a.v[lane], b.v[lane], c.v[lane]);
  }
  return result;
}

/// a * b + c, rounded once.
template <class T>
LOCKSTEP_INLINE Vec<T> fma(Vec<T> a, Vec<T> b, Vec<T> c) {
  [[maybe_unused]] constexpr bool kFloat = sizeof(T) == 4;
  using Native [[maybe_unused]] = typename Vec<T>::Native;
#if defined(__AVX512F__) && LOCKSTEP_SIMD_BYTES == 64
  if constexpr (kFloat)
    return {(Native)_mm512_fmadd_ps((__m512)a.v, (__m512)b.v, (__m512)c.v)};
  else
    return {(Native)_mm512_fmadd_pd((__m512d)a.v, (__m512d)b.v, (__m512d)c.v)};
#elif defined(__FMA__) && LOCKSTEP_SIMD_BYTES == 32
  if constexpr (kFloat)
    return {(Native)_mm256_fmadd_ps((__m256)a.v, (__m256)b.v, (__m256)c.v)};
  else
    return {(Native)_mm256_fmadd_pd((__m256d)a.v, (__m256d)b.v, (__m256d)c.v)};
#elif defined(__aarch64__) && LOCKSTEP_SIMD_BYTES == 16
  if constexpr (kFloat)
    return {(Native)vfmaq_f32((float32x4_t)c.v, (float32x4_t)a.v, (float32x4_t)b.v)};
  else
    return {(Native)vfmaq_f64((float64x2_t)c.v, (float64x2_t)a.v, (float64x2_t)b.v)};
#else
  return fma_by_lanes(a, b, c);
#endif
}

template <class T>
LOCKSTEP_INLINE Vec<T> sqrt(Vec<T> a) {
  [[maybe_unused]] constexpr bool kFloat = sizeof(T) == 4;
  using Native [[maybe_unused]] = typename Vec<T>::Native;
#if defined(__AVX512F__) && LOCKSTEP_SIMD_BYTES == 64
  // The zero-masked forms with every lane chosen: GCC's plain ones warn of the undefined lanes they never use.
  if constexpr (kFloat)
    return {(Native)_mm512_maskz_sqrt_ps(static_cast<__mmask16>(-1), (__m512)a.v)};
  else
    return {(Native)_mm512_maskz_sqrt_pd(static_cast<__mmask8>(-1), (__m512d)a.v)};
#elif defined(__AVX__) && LOCKSTEP_SIMD_BYTES == 32
  if constexpr (kFloat)
    return {(Native)_mm256_sqrt_ps((__m256)a.v)};
  else
    return {(Native)_mm256_sqrt_pd((__m256d)a.v)};
#elif defined(__x86_64__) && LOCKSTEP_SIMD_BYTES == 16
  if constexpr (kFloat)
    return {(Native)_mm_sqrt_ps((__m128)a.v)};
  else
    return {(Native)_mm_sqrt_pd((__m128d)a.v)};
#else
  Vec<T> result = a;
  for (int lane = 0; lane < Vec<T>::kWidth; ++lane) {
    if constexpr (kFloat)
      result.v[lane] = __builtin_sqrtf(a.v[lane]);
    else
      result.v[lane] = __builtin_sqrt(a.v[lane]);
  }
  return result;
#endif
}

/// Keeps a loaded vector in a register: GCC would rather load it again as an operand of every fma that uses it.
template <class T>
LOCKSTEP_INLINE void keep_in_register([[maybe_unused]] Vec<T>& a) {
#if defined(__AVX512F__) && LOCKSTEP_SIMD_BYTES == 64
  __asm__("" : "+v"(a.v));
#elif defined(__AVX2__) && LOCKSTEP_SIMD_BYTES == 32
  __asm__("" : "+x"(a.v));
#elif defined(__aarch64__) && LOCKSTEP_SIMD_BYTES == 16
  __asm__("" : "+w"(a.v));
#endif
}

// ---- memory: any alignment ----
template <class T>
LOCKSTEP_INLINE Vec<T> load(const T* from) {
  Vec<T> result;
  __builtin_memcpy(&result.v, from, sizeof(result.v));
  return result;
}
template <class T>
LOCKSTEP_INLINE void store(T* to, Vec<T> a) {
  __builtin_memcpy(to, &a.v, sizeof(a.v));
}

}  // namespace lockstep::LOCKSTEP_SIMD
