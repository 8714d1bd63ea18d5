#include "tests/kernels/math/ulp.hpp"

#include <gtest/gtest.h>

namespace lockstep::math {
namespace {

constexpr double kWrong = std::numeric_limits<double>::infinity();
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TEST(Ulps, CountsUnitsInTheLastPlace) {
  EXPECT_EQ(ulps(1.0F, 1.0L), 0.0);
  EXPECT_EQ(ulps(1.0F + 0x1p-23F, 1.0L), 1.0);
  EXPECT_EQ(ulps(1.5F, 1.5L + 0x1p-24L), 0.5);
  EXPECT_EQ(ulps(-3.0, -3.0L - 0x1p-50L), 2.0);
  EXPECT_EQ(ulps(0x1p-149F, 0x1p-150L), 0.5);
  EXPECT_EQ(ulps(0.0F, 0x1p-151L), 0.25);
  EXPECT_EQ(ulps(kInf, 0x1p128L - 0x1p103L), 0.5);
  EXPECT_EQ(ulps(kInf, 1e300L), 0.0);
}

TEST(Ulps, RejectsWhatHasNoDistance) {
  EXPECT_EQ(ulps(kNan, 1.0L), kWrong);
  EXPECT_EQ(ulps(1.0F, static_cast<long double>(kNan)), kWrong);
  EXPECT_EQ(ulps(-kInf, 1e300L), kWrong);
  EXPECT_EQ(ulps(1.0F, static_cast<long double>(kInf)), kWrong);
  EXPECT_EQ(ulps(-0.0F, 0.0L), kWrong);
  EXPECT_EQ(ulps(0x1p-149F, 0.0L), kWrong);
  EXPECT_GT(ulps(std::numeric_limits<float>::max(), 1e300L), 1e6);
}

}  // namespace
}  // namespace lockstep::math
