#pragma once
// Cosine and sine in double, by fixed polynomials: libm's last bit differs between machines.

#include <cmath>
#include <cstddef>

namespace lockstep {

struct CirclePoint {
  double cosine, sine;
};

namespace circle_detail {

// Taylor coefficients of sin(a) / a and cos(a) in a^2; on |a| <= pi/4 the first omitted term is below 2^-59.
inline constexpr double kSine[] = {1.0,          -1.0 / 6,        1.0 / 120,          -1.0 / 5040,
                                   1.0 / 362880, -1.0 / 39916800, 1.0 / 6227020800.0, -1.0 / 1307674368000.0};
inline constexpr double kCosine[] = {1.0,
                                     -1.0 / 2,
                                     1.0 / 24,
                                     -1.0 / 720,
                                     1.0 / 40320,
                                     -1.0 / 3628800,
                                     1.0 / 479001600,
                                     -1.0 / 87178291200.0,
                                     1.0 / 20922789888000.0};

template <std::size_t Size>
double polynomial(const double (&coefficients)[Size], double x) {
  double sum = coefficients[Size - 1];
  for (std::size_t i = Size - 1; i-- > 0;) sum = std::fma(sum, x, coefficients[i]);
  return sum;
}

}  // namespace circle_detail

/// cos and sin of pi * turn for 0 <= turn < 2. Absolute error below 2^-51.
inline CirclePoint unit_circle(double turn) {
  using namespace circle_detail;
  // The nearest quarter turn is taken off exactly; what is left lies in [-1/4, 1/4].
  const double quarter = std::floor(std::fma(2.0, turn, 0.5));
  const double angle = std::fma(-0.5, quarter, turn) * 3.141592653589793;
  const double square = angle * angle;
  const double sine = angle * polynomial(kSine, square), cosine = polynomial(kCosine, square);
  switch (static_cast<int>(quarter) & 3) {
    case 0:
      return {cosine, sine};
    case 1:
      return {-sine, cosine};
    case 2:
      return {-cosine, -sine};
    default:
      return {sine, -cosine};
  }
}

}  // namespace lockstep
