#include "lockstep/kernels/math/normal.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace lockstep::math {
namespace {

long double cdf(long double x) { return 0.5L * std::erfc(-x / std::sqrt(2.0L)); }

// The distance to the true quantile is the error of the CDF over its slope.
TEST(NormalQuantile, InvertsTheCumulativeDistribution) {
  double worst = 0;
  const auto check = [&](double p) {
    const double x = normal_quantile(p);
    const long double density = std::exp(-0.5L * x * x) / std::sqrt(2.0L * 3.14159265358979323846L);
    // In the upper tail 1 - p is what is accurate.
    const long double miss = p < 0.5 ? cdf(x) - p : (1.0L - p) - cdf(-static_cast<long double>(x));
    worst = std::max(worst, static_cast<double>(std::abs(miss / density) / std::abs(static_cast<long double>(x))));
  };
  for (int i = 1; i < 20000; ++i) {
    if (i != 10000) check(i / 20000.0);
  }
  for (int exponent = 2; exponent <= 53; ++exponent) {
    check(std::ldexp(1.0, -exponent));
    check(1 - std::ldexp(1.0, -exponent));
    check(std::ldexp(1.5, -exponent));
  }
  EXPECT_LT(worst, 1e-15);
  EXPECT_EQ(normal_quantile(0.5), 0.0);
}

TEST(NormalQuantile, IsSymmetric) {
  for (int i = 1; i < 1000; ++i) {
    const double p = i * 0x1p-11;
    EXPECT_EQ(normal_quantile(p), -normal_quantile(1 - p));
  }
}

TEST(Normal, MomentsQuantilesAndChiSquare) {
  constexpr int kCount = 1 << 20, kBins = 64;
  const RandomKey key{.seed = 2024, .purpose = Purpose::init, .layer = 5};
  long double sum = 0, square = 0, cube = 0, fourth = 0;
  std::array<int, kBins> bins{};
  int beyond_two = 0;
  for (std::uint64_t i = 0; i < kCount; ++i) {
    const double x = normal(key, i);
    ASSERT_LT(std::abs(x), 8.3);
    sum += x, square += x * x, cube += x * x * x, fourth += x * x * x * x;
    beyond_two += std::abs(x) > 2;
    ++bins[static_cast<std::size_t>(std::min<long double>(cdf(x) * kBins, kBins - 1))];
  }
  // Five standard deviations each: Var x = 1, Var x^2 = 2, Var x^3 = 15, Var x^4 = 96.
  const double root = std::sqrt(static_cast<double>(kCount));
  EXPECT_LT(std::abs(sum / kCount), 5 / root);
  EXPECT_LT(std::abs(square / kCount - 1), 5 * std::sqrt(2.0) / root);
  EXPECT_LT(std::abs(cube / kCount), 5 * std::sqrt(15.0) / root);
  EXPECT_LT(std::abs(fourth / kCount - 3), 5 * std::sqrt(96.0) / root);
  EXPECT_NEAR(beyond_two / static_cast<double>(kCount), 0.04550026389635842, 5 * 0.2084 / root);
  double chi_square = 0;
  constexpr double kEach = double(kCount) / kBins;
  for (const int hits : bins) chi_square += std::pow(hits - kEach, 2) / kEach;
  EXPECT_GT(chi_square, 63 - 4 * std::sqrt(126.0));
  EXPECT_LT(chi_square, 63 + 5 * std::sqrt(126.0));
}

// The middle and both tails, and the first numbers of a stream: a change needs a new numerics_version.
TEST(Normal, GoldenValues) {
  EXPECT_EQ(normal_quantile(0.975), 0x1.f5c0331eeff81p+0);
  EXPECT_EQ(normal_quantile(0.001), -0x1.8b8cbb720447p+1);
  EXPECT_EQ(normal_quantile(0x1p-50), -0x1.fd2fba88ab073p+2);
  const RandomKey key{.seed = 1, .purpose = Purpose::init, .layer = 2};
  EXPECT_EQ(normal(key, 0), 0x1.2accb8f36c8acp-4);
  EXPECT_EQ(normal(key, 1), 0x1.5820ed2fa2f63p-1);
  EXPECT_EQ(normal(key, 2), -0x1.cb7ccb2547966p-1);
  EXPECT_EQ(normal(key, 3), 0x1.9affd493bb93ap-1);
}

TEST(Normal, EndsAreFinite) {
  EXPECT_LT(normal_quantile(0x1p-53), -8.1);
  EXPECT_GT(normal_quantile(0x1p-53), -8.3);
}

}  // namespace
}  // namespace lockstep::math
