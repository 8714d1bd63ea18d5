#pragma once
// The primitive operations that elementary.hpp is written in. Ops<V> says how the type V, one number or a SIMD
// vector of them, performs each; all are exact or correctly rounded, lane by lane, so a template written with
// them gives the same bits in every V. Besides Ops<V>, V has + - * / unary- < > ==, whose comparisons yield
// what Ops<V>::select takes, and Ops<V>::Bits has + - & | and << >> by an int.
//
// A new SIMD or device type needs only a specialisation of Ops (as in kernels/simd/ops.hpp).

#include <cstdint>

#include "lockstep/core/inline.hpp"

namespace lockstep::math {

template <class V>
struct Ops;

template <>
struct Ops<float> {
  using Scalar = float;
  using Bits = std::uint32_t;  // unsigned: nothing overflows, every shift is logical

  static LOCKSTEP_INLINE float set(float value) { return value; }
  static LOCKSTEP_INLINE std::uint32_t set_bits(std::uint32_t value) { return value; }
  static LOCKSTEP_INLINE float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
  static LOCKSTEP_INLINE float sqrt(float a) { return __builtin_sqrtf(a); }
  static LOCKSTEP_INLINE std::uint32_t to_bits(float a) { return __builtin_bit_cast(std::uint32_t, a); }
  static LOCKSTEP_INLINE float from_bits(std::uint32_t a) { return __builtin_bit_cast(float, a); }
  static LOCKSTEP_INLINE float select(bool mask, float yes, float no) { return mask ? yes : no; }
};

template <>
struct Ops<double> {
  using Scalar = double;
  using Bits = std::uint64_t;

  static LOCKSTEP_INLINE double set(double value) { return value; }
  static LOCKSTEP_INLINE std::uint64_t set_bits(std::uint64_t value) { return value; }
  static LOCKSTEP_INLINE double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
  static LOCKSTEP_INLINE double sqrt(double a) { return __builtin_sqrt(a); }
  static LOCKSTEP_INLINE std::uint64_t to_bits(double a) { return __builtin_bit_cast(std::uint64_t, a); }
  static LOCKSTEP_INLINE double from_bits(std::uint64_t a) { return __builtin_bit_cast(double, a); }
  static LOCKSTEP_INLINE double select(bool mask, double yes, double no) { return mask ? yes : no; }
};

/// a * b + c, rounded once.
template <class V>
LOCKSTEP_INLINE V fma(V a, V b, V c) {
  return Ops<V>::fma(a, b, c);
}

/// The IEEE square root, correctly rounded.
template <class V>
LOCKSTEP_INLINE V sqrt(V a) {
  return Ops<V>::sqrt(a);
}

}  // namespace lockstep::math
