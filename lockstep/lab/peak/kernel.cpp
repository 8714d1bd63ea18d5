// Compiled once per instruction set (see kernel.hpp); LOCKSTEP_PEAK is the namespace.
//
// 12 chains: two fused multiply-adds start per cycle and each takes 4 or 5 cycles, so 10 are needed; 12 and the two
// constants still fit the 16 registers of AVX2.

#include "lockstep/lab/peak/kernel.hpp"

#include "lockstep/core/inline.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace lockstep::LOCKSTEP_PEAK {

namespace {

constexpr int kChains = 12;

#if defined(__AVX512F__)
constexpr const char* kIsa = "avx512";
using Floats = __m512;
using Doubles = __m512d;
LOCKSTEP_INLINE Floats fill(float value) { return _mm512_set1_ps(value); }
LOCKSTEP_INLINE Doubles fill(double value) { return _mm512_set1_pd(value); }
LOCKSTEP_INLINE Floats multiply_add(Floats a, Floats b, Floats c) { return _mm512_fmadd_ps(a, b, c); }
LOCKSTEP_INLINE Doubles multiply_add(Doubles a, Doubles b, Doubles c) { return _mm512_fmadd_pd(a, b, c); }
#elif defined(__FMA__)
constexpr const char* kIsa = "avx2";
using Floats = __m256;
using Doubles = __m256d;
LOCKSTEP_INLINE Floats fill(float value) { return _mm256_set1_ps(value); }
LOCKSTEP_INLINE Doubles fill(double value) { return _mm256_set1_pd(value); }
LOCKSTEP_INLINE Floats multiply_add(Floats a, Floats b, Floats c) { return _mm256_fmadd_ps(a, b, c); }
LOCKSTEP_INLINE Doubles multiply_add(Doubles a, Doubles b, Doubles c) { return _mm256_fmadd_pd(a, b, c); }
#elif defined(__x86_64__)
constexpr const char* kIsa = "baseline";
using Floats = __m128;
using Doubles = __m128d;
LOCKSTEP_INLINE Floats fill(float value) { return _mm_set1_ps(value); }
LOCKSTEP_INLINE Doubles fill(double value) { return _mm_set1_pd(value); }
LOCKSTEP_INLINE Floats multiply_add(Floats a, Floats b, Floats c) { return _mm_add_ps(_mm_mul_ps(a, b), c); }
LOCKSTEP_INLINE Doubles multiply_add(Doubles a, Doubles b, Doubles c) { return _mm_add_pd(_mm_mul_pd(a, b), c); }
#elif defined(__aarch64__)
constexpr const char* kIsa = "neon";
using Floats = float32x4_t;
using Doubles = float64x2_t;
LOCKSTEP_INLINE Floats fill(float value) { return vdupq_n_f32(value); }
LOCKSTEP_INLINE Doubles fill(double value) { return vdupq_n_f64(value); }
LOCKSTEP_INLINE Floats multiply_add(Floats a, Floats b, Floats c) { return vfmaq_f32(c, a, b); }
LOCKSTEP_INLINE Doubles multiply_add(Doubles a, Doubles b, Doubles c) { return vfmaq_f64(c, a, b); }
#else
constexpr const char* kIsa = "scalar";
using Floats = float;
using Doubles = double;
LOCKSTEP_INLINE Floats fill(float value) { return value; }
LOCKSTEP_INLINE Doubles fill(double value) { return value; }
LOCKSTEP_INLINE Floats multiply_add(Floats a, Floats b, Floats c) { return __builtin_fmaf(a, b, c); }
LOCKSTEP_INLINE Doubles multiply_add(Doubles a, Doubles b, Doubles c) { return __builtin_fma(a, b, c); }
#endif

/// Every chain is a = a * factor + step, which tends to 1: no overflow, and no subnormal numbers, which are slow.
template <class V, class T>
T run(std::int64_t rounds) {
  const V factor = fill(T(0.5)), step = fill(T(0.5));
  V chain[kChains];
  for (int c = 0; c < kChains; ++c) chain[c] = fill(T(c));
  for (std::int64_t round = 0; round < rounds; ++round)
    // NOLINTNEXTLINE(modernize-loop-convert): unrolled by its counter
    for (int c = 0; c < kChains; ++c) chain[c] = multiply_add(chain[c], factor, step);
  V sum = chain[0];
  const V one = fill(T(1));
  for (int c = 1; c < kChains; ++c) sum = multiply_add(chain[c], one, sum);
  T first;
  __builtin_memcpy(&first, &sum, sizeof first);
  return first;
}

}  // namespace

PeakKernel peak_kernel() {
  return {.isa = kIsa,
          .run_float = &run<Floats, float>,
          .run_double = &run<Doubles, double>,
          .float_flops = 2.0 * kChains * double(sizeof(Floats)) / sizeof(float),
          .double_flops = 2.0 * kChains * double(sizeof(Doubles)) / sizeof(double)};
}

}  // namespace lockstep::LOCKSTEP_PEAK
