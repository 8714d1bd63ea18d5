#include "lockstep/core/checked.hpp"

#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace lockstep {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

TEST(CheckedProduct, MultipliesWhatFits) {
  EXPECT_EQ(checked_product({}), 1);
  EXPECT_EQ(checked_product({60000, 28, 28}), 47040000);
  EXPECT_EQ(checked_product({kMax, 1}), kMax);
  EXPECT_EQ(checked_product({std::int64_t{1} << 31, std::int64_t{1} << 31}), std::int64_t{1} << 62);
  EXPECT_EQ(checked_product({0, 5}), 0);
}

TEST(CheckedProduct, RefusesOverflowAndNegatives) {
  EXPECT_FALSE(checked_product({std::int64_t{1} << 32, std::int64_t{1} << 31}));
  EXPECT_FALSE(checked_product({kMax, 2}));
  EXPECT_FALSE(checked_product({kMax, kMax, 0}));
  EXPECT_FALSE(checked_product({0, kMax, kMax}));
  EXPECT_FALSE(checked_product({-1}));
  EXPECT_FALSE(checked_product({-1, -1}));
  EXPECT_FALSE(checked_product({0, -3}));
}

TEST(CheckedProduct, TakesARange) {
  EXPECT_EQ(checked_product_of(std::vector<std::int64_t>{}), 1);
  EXPECT_EQ(checked_product_of(std::vector<std::int64_t>{2, 3, 5}), 30);
  EXPECT_FALSE(checked_product_of(std::vector<std::int64_t>{kMax, 2}));
  EXPECT_FALSE(checked_product_of(std::vector<std::int32_t>{7, -1}));
  EXPECT_EQ(checked_product_of(std::vector<std::int64_t>{2, 3}, 8), 48);
  EXPECT_EQ(checked_product_of(std::vector<std::int64_t>{0, kMax / 8}, 8), 0);
  EXPECT_FALSE(checked_product_of(std::vector<std::int64_t>{0, kMax / 8 + 1}, 8));
}

}  // namespace
}  // namespace lockstep
