#pragma once
// The numbers behind elementary.hpp, per precision. The polynomials and the split of ln 2 are printed by
// fit_polynomials.py beside this file.

#include <cstdint>
#include <limits>

#include "lockstep/kernels/math/ops.hpp"

namespace lockstep::math {

/// c0 + c1 x + c2 x^2 + ...: one fma per coefficient, highest power first.
template <class V>
LOCKSTEP_INLINE V horner(V, typename Ops<V>::Scalar last) {
  return Ops<V>::set(last);
}
template <class V, class... Rest>
LOCKSTEP_INLINE V horner(V x, typename Ops<V>::Scalar first, Rest... rest) {
  return Ops<V>::fma(horner(x, rest...), x, Ops<V>::set(first));
}

template <class Scalar>
struct Constants;

template <>
struct Constants<float> {
  static constexpr int kMantissaBits = 23;
  static constexpr std::uint32_t kBias = 127;
  static constexpr std::uint32_t kSignMask = 0x80000000U;
  static constexpr std::uint32_t kMantissaMask = 0x007FFFFFU;
  static constexpr std::uint32_t kSqrtHalfBits = 0x3F3504F3U;
  static constexpr float kMinNormal = 0x1p-126F;
  static constexpr float kInfinity = std::numeric_limits<float>::infinity();
  static constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

  // The low bits of x + kRound hold the integer nearest to x, plus 2 kBias.
  static constexpr float kRound = 0x1.8p23F + 254.0F;
  static constexpr float kLog2e = 0x1.715476p+0F;
  static constexpr float kLn2High = 0x1.62e4p-1F;  // times an exponent: exact
  static constexpr float kLn2Low = 0x1.7f7d1cp-20F;
  static constexpr float kExpMax = 89.0F;    // exp is +Inf from here on
  static constexpr float kExpMin = -105.0F;  // exp rounds to 0 from here down
  static constexpr float kTanhMax = 10.0F;   // tanh rounds to 1 from here on
  static constexpr float kSubnormalScale = 0x1p24F;
  static constexpr float kSubnormalShift = 24.0F;

  /// (exp(r) - 1 - r) / r^2 for |r| <= ln(2)/2; exp's error 3.2e-9.
  template <class V>
  static LOCKSTEP_INLINE V exp_tail(V r) {
    return horner(r, 0x1.fffffcp-2F, 0x1.55548cp-3F, 0x1.555858p-5F, 0x1.123de0p-7F, 0x1.6ac74ep-10F);
  }
  /// (log((1+s)/(1-s)) / s - 2) / z for z = s^2 <= 0.02945; log's error 8.1e-10.
  template <class V>
  static LOCKSTEP_INLINE V log_tail(V z) {
    return horner(z, 0x1.55557ap-1F, 0x1.995ed4p-2F, 0x1.31e0d8p-2F);
  }
};

template <>
struct Constants<double> {
  static constexpr int kMantissaBits = 52;
  static constexpr std::uint64_t kBias = 1023;
  static constexpr std::uint64_t kSignMask = 0x8000000000000000U;
  static constexpr std::uint64_t kMantissaMask = 0x000FFFFFFFFFFFFFU;
  static constexpr std::uint64_t kSqrtHalfBits = 0x3FE6A09E667F3BCDU;
  static constexpr double kMinNormal = 0x1p-1022;
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  static constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

  static constexpr double kRound = 0x1.8p52 + 2046.0;
  static constexpr double kLog2e = 0x1.71547652b82fep+0;
  static constexpr double kLn2High = 0x1.62e42fefa38p-1;
  static constexpr double kLn2Low = 0x1.ef35793c7673p-45;
  static constexpr double kExpMax = 710.0;
  static constexpr double kExpMin = -746.0;
  static constexpr double kTanhMax = 20.0;
  static constexpr double kSubnormalScale = 0x1p53;
  static constexpr double kSubnormalShift = 53.0;

  /// As for float; exp's error 7.0e-18.
  template <class V>
  static LOCKSTEP_INLINE V exp_tail(V r) {
    return horner(r, 0x1.000000000000ap-1, 0x1.5555555555554p-3, 0x1.5555555550b21p-5, 0x1.1111111107225p-7,
                  0x1.6c16c1829a402p-10, 0x1.a01a01e5893b5p-13, 0x1.a019a00c94232p-16, 0x1.71dd8fb443a8fp-19,
                  0x1.28a6e0ff93322p-22, 0x1.afd8944516733p-26);
  }
  /// As for float; log's error 1.2e-18.
  template <class V>
  static LOCKSTEP_INLINE V log_tail(V z) {
    return horner(z, 0x1.5555555555592p-1, 0x1.999999997fef1p-2, 0x1.24924941e4f46p-2, 0x1.c71c521085d46p-3,
                  0x1.74663dd920f53p-3, 0x1.39a1cdddd3ee2p-3, 0x1.2f04e5cef85a6p-3);
  }
};

}  // namespace lockstep::math
