#pragma once
// The error of a computed number in units in the last place of the true one.

#include <algorithm>
#include <cmath>
#include <limits>

namespace lockstep::math {

/// |computed - truth| in ulps of T at truth (of the smallest subnormal below the normal range). Infinity stands
/// for the first power of two beyond the range. A NaN, an infinity or a sign of zero that should not be there (or
/// is missing) counts as an infinite error.
template <class T>
double ulps(T computed, long double truth) {
  using Limits = std::numeric_limits<T>;
  constexpr double kWrong = std::numeric_limits<double>::infinity();
  if (std::isnan(truth) || std::isnan(computed)) return std::isnan(truth) && std::isnan(computed) ? 0 : kWrong;
  if (std::isinf(truth)) return computed == static_cast<T>(truth) ? 0 : kWrong;
  if (truth == 0) return computed == 0 && std::signbit(computed) == std::signbit(truth) ? 0 : kWrong;
  const long double top = std::ldexp(1.0L, Limits::max_exponent);
  if (std::isinf(computed) && std::abs(truth) >= top) return std::signbit(computed) == std::signbit(truth) ? 0 : kWrong;
  const long double value = std::isinf(computed) ? std::copysign(top, computed) : computed;
  int exponent = 0;
  std::frexp(truth, &exponent);
  exponent = std::clamp(exponent, Limits::min_exponent, Limits::max_exponent) - Limits::digits;
  return static_cast<double>(std::abs(std::ldexp(value - truth, -exponent)));
}

}  // namespace lockstep::math
