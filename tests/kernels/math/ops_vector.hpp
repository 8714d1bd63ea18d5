#pragma once
// Ops for the vector types of GCC and clang: Vec<float, 4 | 8 | 16> and Vec<double, 2 | 4 | 8>. fma and sqrt are
// single instructions where the flags of the translation unit allow them and element loops elsewhere: the
// same bits either way.

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__ARM_NEON) && defined(__aarch64__)
#include <arm_neon.h>
#endif

#include "lockstep/kernels/math/ops.hpp"

namespace lockstep::math {

template <class T, int lanes>
struct VectorType {
  using type __attribute__((vector_size(sizeof(T) * lanes))) = T;
};
/// `lanes` numbers of type T, aligned to their size, with lane-wise operators and indexing.
template <class T, int lanes>
using Vec = typename VectorType<T, lanes>::type;

template <class T, int lanes>
struct VectorOps {
  using Scalar = T;
  using V = Vec<T, lanes>;
  using Bits = Vec<typename Ops<T>::Bits, lanes>;

  // Subtracting from the scalar broadcasts it and keeps the sign of -0: -0 - (+0) = -0, x - 0 = x.
  static LOCKSTEP_INLINE V set(T value) { return value - V{}; }
  static LOCKSTEP_INLINE Bits set_bits(typename Ops<T>::Bits value) { return value - Bits{}; }
  static LOCKSTEP_INLINE Bits to_bits(V a) { return (Bits)a; }
  static LOCKSTEP_INLINE V from_bits(Bits a) { return (V)a; }
  template <class Mask>
  static LOCKSTEP_INLINE V select(Mask mask, V yes, V no) {
    return mask ? yes : no;
  }
  static LOCKSTEP_INLINE V fma(V a, V b, V c) {
    V result;
    for (int i = 0; i < lanes; ++i) result[i] = Ops<T>::fma(a[i], b[i], c[i]);
    return result;
  }
  static LOCKSTEP_INLINE V sqrt(V a) {
    V result;
    for (int i = 0; i < lanes; ++i) result[i] = Ops<T>::sqrt(a[i]);
    return result;
  }
};

// One line per type with instructions of its own; the casts are between vectors of the same bits.
#define LOCKSTEP_VECTOR_OPS(T, lanes, Native, native_fma, native_sqrt)                                     \
  template <>                                                                                              \
  struct Ops<Vec<T, lanes>> : VectorOps<T, lanes> {                                                        \
    using V = Vec<T, lanes>;                                                                               \
    static LOCKSTEP_INLINE V fma(V a, V b, V c) { return (V)native_fma((Native)a, (Native)b, (Native)c); } \
    static LOCKSTEP_INLINE V sqrt(V a) { return (V)native_sqrt((Native)a); }                               \
  };
#define LOCKSTEP_VECTOR_OPS_LOOP(T, lanes) \
  template <>                              \
  struct Ops<Vec<T, lanes>> : VectorOps<T, lanes> {};

#if defined(__FMA__)
LOCKSTEP_VECTOR_OPS(float, 4, __m128, _mm_fmadd_ps, _mm_sqrt_ps)
LOCKSTEP_VECTOR_OPS(double, 2, __m128d, _mm_fmadd_pd, _mm_sqrt_pd)
LOCKSTEP_VECTOR_OPS(float, 8, __m256, _mm256_fmadd_ps, _mm256_sqrt_ps)
LOCKSTEP_VECTOR_OPS(double, 4, __m256d, _mm256_fmadd_pd, _mm256_sqrt_pd)
#elif defined(__ARM_NEON) && defined(__aarch64__)
LOCKSTEP_INLINE float32x4_t neon_fma(float32x4_t a, float32x4_t b, float32x4_t c) { return vfmaq_f32(c, a, b); }
LOCKSTEP_INLINE float64x2_t neon_fma(float64x2_t a, float64x2_t b, float64x2_t c) { return vfmaq_f64(c, a, b); }
LOCKSTEP_VECTOR_OPS(float, 4, float32x4_t, neon_fma, vsqrtq_f32)
LOCKSTEP_VECTOR_OPS(double, 2, float64x2_t, neon_fma, vsqrtq_f64)
LOCKSTEP_VECTOR_OPS_LOOP(float, 8)
LOCKSTEP_VECTOR_OPS_LOOP(double, 4)
#else
LOCKSTEP_VECTOR_OPS_LOOP(float, 4)
LOCKSTEP_VECTOR_OPS_LOOP(double, 2)
LOCKSTEP_VECTOR_OPS_LOOP(float, 8)
LOCKSTEP_VECTOR_OPS_LOOP(double, 4)
#endif

#if defined(__AVX512F__)
// The zero-masked forms with every lane chosen: GCC's plain ones warn of the undefined lanes they never use.
LOCKSTEP_INLINE __m512 avx512_sqrt(__m512 a) { return _mm512_maskz_sqrt_ps(static_cast<__mmask16>(-1), a); }
LOCKSTEP_INLINE __m512d avx512_sqrt(__m512d a) { return _mm512_maskz_sqrt_pd(static_cast<__mmask8>(-1), a); }
LOCKSTEP_VECTOR_OPS(float, 16, __m512, _mm512_fmadd_ps, avx512_sqrt)
LOCKSTEP_VECTOR_OPS(double, 8, __m512d, _mm512_fmadd_pd, avx512_sqrt)
#else
LOCKSTEP_VECTOR_OPS_LOOP(float, 16)
LOCKSTEP_VECTOR_OPS_LOOP(double, 8)
#endif

#undef LOCKSTEP_VECTOR_OPS
#undef LOCKSTEP_VECTOR_OPS_LOOP

}  // namespace lockstep::math
