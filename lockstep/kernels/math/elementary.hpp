#pragma once
// exp, log, log1p, tanh, sigmoid for float, double and every SIMD type with an Ops (ops.hpp). Branch-free and
// written with correctly rounded operations in one fixed order: a lane gives exactly the scalar's bits.
// Rounding to nearest and gradual underflow are assumed (never set flush-to-zero).
//
// Error in units in the last place, of the subnormal where the result is one:
//
//             bound   largest seen: float, every bit pattern   double, 1.4e8 random points
//   exp        1.1    1.013 at 0x1.da72c4p+5                   1.021 at 0x1.eeb04756dfa76p+1
//   log        0.9    0.840 at 0x1.69cf3ep+0                   0.838 at 0x1.674346857a0ddp+0
//   log1p      0.9    0.840 at 0x1.a73cf8p-2                   0.839 at -0x1.310668fbb4e56p-2
//   tanh       1.6    1.420 at 0x1.99c15cp-4                   1.463 at 0x1.dba8f08876cdp-4
//   sigmoid    1.6    1.480 at -0x1.362c52p+2                  1.480 at -0x1.e7f5702a5fb2cp+2
//
// Truth for double: long double. Truth for float: the same templates in double, themselves so checked.
// tests/kernels/math holds the bounds on every 1009th float and millions of doubles, against long double.

#include "lockstep/kernels/math/constants.hpp"
#include "lockstep/kernels/math/ops.hpp"

namespace lockstep::math {

namespace detail {

template <class V>
using BitsOf = typename Ops<V>::Bits;
template <class V>
using ConstantsOf = Constants<typename Ops<V>::Scalar>;

template <class V>
LOCKSTEP_INLINE V constant(typename Ops<V>::Scalar value) {
  return Ops<V>::set(value);
}

template <class V>
LOCKSTEP_INLINE V magnitude(V x) {
  return Ops<V>::from_bits(Ops<V>::to_bits(x) & Ops<V>::set_bits(~ConstantsOf<V>::kSignMask));
}

/// exp(x) = 2^n (1 + p), |p| < 0.42, for x in [kExpMin, kExpMax]. The low bits of `exponent` hold n + 2 kBias.
template <class V>
struct ExpParts {
  V p;
  BitsOf<V> exponent;

  /// 2^n, for n >= 1 - kBias.
  LOCKSTEP_INLINE V scale() const {
    const BitsOf<V> field = exponent - Ops<V>::set_bits(ConstantsOf<V>::kBias);
    return Ops<V>::from_bits(field << ConstantsOf<V>::kMantissaBits);
  }
  /// exp(x). Scaled in two halves, since 2^n itself may be out of range; only the last product rounds.
  LOCKSTEP_INLINE V value() const {
    constexpr int kShift = ConstantsOf<V>::kMantissaBits;
    const BitsOf<V> half = exponent >> 1;
    return (constant<V>(1) + p) * Ops<V>::from_bits(half << kShift) * Ops<V>::from_bits((exponent - half) << kShift);
  }
};

/// Cody-Waite reduction: r = x - n ln 2 with ln 2 in two pieces; n High is exact, so r is off by its last rounding.
template <class V>
LOCKSTEP_INLINE ExpParts<V> exp_parts(V x) {
  using C = ConstantsOf<V>;
  const V shifted = Ops<V>::fma(x, constant<V>(C::kLog2e), constant<V>(C::kRound));
  const V n = shifted - constant<V>(C::kRound);
  V r = Ops<V>::fma(n, constant<V>(-C::kLn2High), x);
  r = Ops<V>::fma(n, constant<V>(-C::kLn2Low), r);
  return {Ops<V>::fma(r * r, C::exp_tail(r), r), Ops<V>::to_bits(shifted)};
}

/// x = 2^k m, m in [sqrt(1/2), sqrt(2)), for normal positive x. The bits are offset so that k + kBias + 1 >= 0.
template <class V>
struct LogParts {
  V k, m;
};

template <class V>
LOCKSTEP_INLINE LogParts<V> log_parts(V x) {
  using C = ConstantsOf<V>;
  using Scalar = typename Ops<V>::Scalar;
  constexpr auto kOffset = C::kBias + 1;
  constexpr Scalar kInteger = Scalar(C::kMantissaMask) + Scalar(1);  // its low bits count in ones
  const BitsOf<V> start = Ops<V>::set_bits(C::kSqrtHalfBits);
  const BitsOf<V> above = Ops<V>::to_bits(x) - start + Ops<V>::set_bits(kOffset << C::kMantissaBits);
  const BitsOf<V> count = (above >> C::kMantissaBits) | Ops<V>::set_bits(Ops<Scalar>::to_bits(kInteger));
  const V k = Ops<V>::from_bits(count) - constant<V>(kInteger + Scalar(kOffset));
  return {k, Ops<V>::from_bits((above & Ops<V>::set_bits(C::kMantissaMask)) + start)};
}

/// k ln 2 + log(1 + f) + extra, for 1 + f in [sqrt(1/2), sqrt(2)) and a tiny extra. With s = f / (2 + f):
/// log(1 + f) = 2 s + s R(s^2) = f - (f^2/2 - s (f^2/2 + R)), where only the leading f is large.
template <class V>
LOCKSTEP_INLINE V log_sum(V k, V f, V extra) {
  using C = ConstantsOf<V>;
  const V s = f / (constant<V>(2) + f);
  const V z = s * s;
  const V half_square = constant<V>(0.5) * f * f;
  const V low = Ops<V>::fma(k, constant<V>(C::kLn2Low), extra);
  const V correction = half_square - Ops<V>::fma(s, Ops<V>::fma(z, C::log_tail(z), half_square), low);
  return Ops<V>::fma(k, constant<V>(C::kLn2High), f - correction);
}

/// (a + a_low) / (b + b_low) for tiny low parts: a / b, corrected by the remainder. Nearly correctly rounded.
template <class V>
LOCKSTEP_INLINE V quotient(V a, V a_low, V b, V b_low) {
  const V inverse = constant<V>(1) / b;
  const V first = a * inverse;
  const V remainder = Ops<V>::fma(-first, b, a) + Ops<V>::fma(-first, b_low, a_low);
  return Ops<V>::fma(remainder, inverse, first);
}

}  // namespace detail

/// e^x. Gradual underflow, +Inf above the range, NaN for NaN.
template <class V>
LOCKSTEP_INLINE V exp(V x) {
  using C = detail::ConstantsOf<V>;
  const V high = detail::constant<V>(C::kExpMax), low = detail::constant<V>(C::kExpMin);
  const V below = Ops<V>::select(x > high, high, x);  // comparisons that let NaN pass
  return detail::exp_parts(Ops<V>::select(below < low, low, below)).value();
}

/// Natural logarithm. -Inf at +-0, NaN below, +Inf at +Inf.
template <class V>
LOCKSTEP_INLINE V log(V x) {
  using C = detail::ConstantsOf<V>;
  const V zero = detail::constant<V>(0);
  const auto subnormal = x < detail::constant<V>(C::kMinNormal);
  const V scaled = Ops<V>::select(subnormal, x * detail::constant<V>(C::kSubnormalScale), x);
  const detail::LogParts<V> parts = detail::log_parts(scaled);
  const V k = parts.k - Ops<V>::select(subnormal, detail::constant<V>(C::kSubnormalShift), zero);
  const V result = detail::log_sum(k, parts.m - detail::constant<V>(1), zero);
  const V outside = Ops<V>::select(x == zero, detail::constant<V>(-C::kInfinity), detail::constant<V>(C::kNan));
  return Ops<V>::select(x > zero, Ops<V>::select(x < detail::constant<V>(C::kInfinity), result, x), outside);
}

/// log(1 + x), accurate near 0 too. -Inf at -1, NaN below, +-0 at +-0, +Inf at +Inf.
template <class V>
LOCKSTEP_INLINE V log1p(V x) {
  using C = detail::ConstantsOf<V>;
  const V zero = detail::constant<V>(0), one = detail::constant<V>(1);
  const V u = one + x;
  const V back = u - one;
  const V lost = (x - back) + (one - (u - back));  // 1 + x - u, exactly
  const detail::LogParts<V> parts = detail::log_parts(u);
  const auto near = parts.k == zero;
  const V f = Ops<V>::select(near, x, parts.m - one);
  const V extra = Ops<V>::select(near, zero, lost / u);  // log(u + lost) = log(u) + lost / u
  const V result = Ops<V>::select(x == zero, x, detail::log_sum(parts.k, f, extra));
  const V outside = Ops<V>::select(x == -one, detail::constant<V>(-C::kInfinity), detail::constant<V>(C::kNan));
  return Ops<V>::select(x > -one, Ops<V>::select(x < detail::constant<V>(C::kInfinity), result, x), outside);
}

/// Hyperbolic tangent: with exp(-2|x|) = 2^n (1 + p), it is (1 - 2^n - 2^n p) / (1 + 2^n + 2^n p), which
/// loses nothing near 0, where n = 0. +-0 at +-0.
template <class V>
LOCKSTEP_INLINE V tanh(V x) {
  using C = detail::ConstantsOf<V>;
  const V one = detail::constant<V>(1), limit = detail::constant<V>(C::kTanhMax);
  const V size = detail::magnitude(x);
  const V capped = Ops<V>::select(size > limit, limit, size);
  const detail::ExpParts<V> parts = detail::exp_parts(capped * detail::constant<V>(-2));
  const V scale = parts.scale();
  const V above = one - scale;
  const V over = Ops<V>::fma(-scale, parts.p, above);
  const V over_low = Ops<V>::fma(-scale, parts.p, above - over);
  const V e = Ops<V>::fma(scale, parts.p, scale);
  const V e_low = Ops<V>::fma(scale, parts.p, scale - e);
  const V under = one + e;
  const V ratio = detail::quotient(over, over_low, under, (e - (under - one)) + e_low);
  return Ops<V>::from_bits(Ops<V>::to_bits(ratio) | (Ops<V>::to_bits(x) & Ops<V>::set_bits(C::kSignMask)));
}

/// sigmoid(x), for who has e = exp(-|x|).
template <class V>
LOCKSTEP_INLINE V sigmoid_from(V x, V e) {
  const V one = detail::constant<V>(1), zero = detail::constant<V>(0);
  const V under = one + e;
  return detail::quotient(Ops<V>::select(x < zero, e, one), zero, under, e - (under - one));
}

/// 1 / (1 + exp(-x)), as e / (1 + e) with e = exp(x) for negative x: underflows gradually, never overflows.
template <class V>
LOCKSTEP_INLINE V sigmoid(V x) {
  const V limit = detail::constant<V>(-detail::ConstantsOf<V>::kExpMin), size = detail::magnitude(x);
  return sigmoid_from(x, detail::exp_parts(-Ops<V>::select(size > limit, limit, size)).value());
}

}  // namespace lockstep::math
