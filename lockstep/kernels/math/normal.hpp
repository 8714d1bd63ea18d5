#pragma once
// Normal random numbers by inversion, with our own logarithm: the bits depend on no mathematics library.

#include <cstdint>

#include "lockstep/core/random.hpp"
#include "lockstep/kernels/math/elementary.hpp"

namespace lockstep::math {

/// The x with P(N(0,1) < x) = p, for 0 < p < 1: Wichura, Algorithm AS 241 (PPND16), Applied Statistics 37 (1988),
/// relative error about 1e-16. Each polynomial is one fma chain; 1 - p must be exact, as it is for the
/// multiples of 2^-53.
LOCKSTEP_INLINE double normal_quantile(double p) {
  const double q = p - 0.5;
  if (-0.425 <= q && q <= 0.425) {
    const double r = fma(-q, q, 0.180625);
    const double over =
        horner(r, 3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3, 1.3731693765509461125e4,
               4.5921953931549871457e4, 6.7265770927008700853e4, 3.3430575583588128105e4, 2.5090809287301226727e3);
    const double under =
        horner(r, 1.0, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3,
               2.1213794301586595867e4, 3.9307895800092710610e4, 2.8729085735721942674e4, 5.2264952788528545610e3);
    return q * (over / under);
  }
  const double tail = sqrt(-log(q < 0 ? p : 1.0 - p));
  double over, under;
  if (tail <= 5.0) {
    const double r = tail - 1.6;
    over = horner(r, 1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0,
                  3.64784832476320460504e0, 1.27045825245236838258e0, 2.41780725177450611770e-1,
                  2.27238449892691845833e-2, 7.74545014278341407640e-4);
    under = horner(r, 1.0, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
                   1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4,
                   1.05075007164441684324e-9);
  } else {
    const double r = tail - 5.0;
    over = horner(r, 6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0,
                  2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
                  2.71155556874348757815e-5, 2.01033439929228813265e-7);
    under = horner(r, 1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
                   7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7,
                   2.04426310338993978564e-15);
  }
  return q < 0 ? -(over / under) : over / under;
}

/// Element `element` of the stream as a normal number of mean 0 and variance 1: the quantile of
/// (k + 1/2) / 2^52, k the upper 52 bits of random_bits(key, element); within +-8.2, symmetric, never infinite.
LOCKSTEP_INLINE double normal(const RandomKey& key, std::uint64_t element) {
  return normal_quantile((static_cast<double>(random_bits(key, element) >> 12) + 0.5) * 0x1p-52);
}

}  // namespace lockstep::math
