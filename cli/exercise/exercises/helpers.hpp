#pragma once
// C functions that the header of some exercises holds: the elementary functions of the contract
// (lockstep/kernels/math/elementary.hpp), written for one float. tests/cli/exercise/helpers_test.cpp compares the bits.

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

}  // namespace lockstep::cli
