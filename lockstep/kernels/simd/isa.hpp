#pragma once
// The SIMD kernels are compiled once per instruction set, each time into a namespace of its own: no function compiled
// with AVX-512 may be the copy the linker keeps for a machine without it. The build defines
//   LOCKSTEP_SIMD        the namespace: simd_baseline, simd_avx2, simd_avx512, simd_neon, or simd_wide in the tests
//   LOCKSTEP_SIMD_NAME   what reports print: "simd.avx2"
//   LOCKSTEP_SIMD_BYTES  bytes of a vector; wider than the hardware's registers is legal (the tests do it), only slow
// For the same reason the kernels use no function of the standard library that could become a shared symbol.

#ifndef LOCKSTEP_SIMD
#define LOCKSTEP_SIMD simd_baseline
#define LOCKSTEP_SIMD_NAME "simd.baseline"
#define LOCKSTEP_SIMD_BYTES 16
#endif

#include <cstdint>

#include "lockstep/core/inline.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#define LOCKSTEP_NOINLINE __attribute__((noinline))

namespace lockstep::LOCKSTEP_SIMD {

inline constexpr int kVectorBytes = LOCKSTEP_SIMD_BYTES;
#if defined(__x86_64__) && !defined(__FMA__)
inline constexpr bool kSlowFma = true;  // a call of the library for every lane: nothing else is worth tuning
#else
inline constexpr bool kSlowFma = false;
#endif
#if defined(__AVX512F__) || defined(__aarch64__)
inline constexpr int kRegisters = 32;
#else
inline constexpr int kRegisters = 16;
#endif

LOCKSTEP_INLINE constexpr std::int64_t least(std::int64_t a, std::int64_t b) { return a < b ? a : b; }
LOCKSTEP_INLINE constexpr std::int64_t most(std::int64_t a, std::int64_t b) { return a > b ? a : b; }
LOCKSTEP_INLINE constexpr std::int64_t round_up(std::int64_t n, std::int64_t unit) {
  return (n + unit - 1) / unit * unit;
}

}  // namespace lockstep::LOCKSTEP_SIMD
