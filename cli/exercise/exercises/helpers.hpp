#pragma once
// C functions that the header of some exercises holds: the elementary functions of the contract
// (lockstep/kernels/math/elementary.hpp), written for one float. The solved exercises of the tests compare the bits.

namespace lockstep::cli {

inline constexpr const char* kExpHelper = R"(
#include <math.h>
#include <string.h>

// e^x with the same bits on every machine, for x from -105 to 89; outside it counts as the nearer end.
static inline float contract_exp(float x) {
  if (x > 89.0f) x = 89.0f;
  if (x < -105.0f) x = -105.0f;
  const float shifted = fmaf(x, 0x1.715476p+0f, 0x1.8p23f + 254.0f);  // n = x / ln 2, rounded
  const float n = shifted - (0x1.8p23f + 254.0f);
  const float r = fmaf(n, -0x1.7f7d1cp-20f, fmaf(n, -0x1.62e4p-1f, x));  // x - n ln 2
  float tail = 0x1.6ac74ep-10f;
  tail = fmaf(tail, r, 0x1.123de0p-7f);
  tail = fmaf(tail, r, 0x1.555858p-5f);
  tail = fmaf(tail, r, 0x1.55548cp-3f);
  tail = fmaf(tail, r, 0x1.fffffcp-2f);
  const float p = fmaf(r * r, tail, r);
  uint32_t exponent, one, two;  // 2^n in two halves: 2^n itself may be out of range
  memcpy(&exponent, &shifted, 4);
  one = exponent >> 1;
  two = (exponent - one) << 23;
  one = one << 23;
  float half, other;
  memcpy(&half, &one, 4);
  memcpy(&other, &two, 4);
  return (1.0f + p) * half * other;
}
)";

inline constexpr const char* kSigmoidHelper = R"(
// 1 / (1 + e^-x): the result of the exercise `sigmoid`.
static inline float contract_sigmoid(float x) {
  const float e = contract_exp(-fminf(fabsf(x), 105.0f));
  const float a = x < 0 ? e : 1.0f, b = 1.0f + e;
  const float inverse = 1.0f / b, first = a * inverse, low = e - (b - 1.0f);
  const float rest = fmaf(-first, b, a) + fmaf(-first, low, 0.0f);
  return fmaf(rest, inverse, first);
}
)";

inline constexpr const char* kLogHelper = R"(
// log(1 + x) with the same bits on every machine, for x from 0 to 1.
static inline float contract_log1p(float x) {
  const float u = 1.0f + x, back = u - 1.0f;
  const float lost = (x - back) + (1.0f - (u - back));  // 1 + x - u, exactly
  uint32_t bits, whole, part;
  memcpy(&bits, &u, 4);
  bits = bits - 0x3F3504F3u + (128u << 23);
  whole = (bits >> 23) | 0x4B000000u;
  part = (bits & 0x007FFFFFu) + 0x3F3504F3u;
  float k, m;  // u = 2^k m, m between sqrt(1/2) and sqrt(2)
  memcpy(&k, &whole, 4);
  memcpy(&m, &part, 4);
  k = k - (8388608.0f + 128.0f);
  const float f = k == 0 ? x : m - 1.0f, extra = k == 0 ? 0.0f : lost / u;
  const float s = f / (2.0f + f), z = s * s, half_square = 0.5f * f * f;
  const float tail = fmaf(fmaf(0x1.31e0d8p-2f, z, 0x1.995ed4p-2f), z, 0x1.55557ap-1f);
  const float low = fmaf(k, 0x1.7f7d1cp-20f, extra);
  const float correction = half_square - fmaf(s, fmaf(z, tail, half_square), low);
  return x == 0 ? x : fmaf(k, 0x1.62e4p-1f, f - correction);
}
)";

}  // namespace lockstep::cli
