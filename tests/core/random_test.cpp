#include "lockstep/core/random.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <gtest/gtest.h>

#include "lockstep/core/error.hpp"

namespace lockstep {
namespace {

TEST(Uniform, EndsOfTheRange) {
  EXPECT_EQ(uniform_float(0), 0.0F);
  EXPECT_EQ(uniform_float(0xFF), 0.0F);
  EXPECT_EQ(uniform_float(0x100), 0x1p-24F);
  EXPECT_EQ(uniform_float(0xFFFFFFFF), 1.0F - 0x1p-24F);
  EXPECT_EQ(uniform_double(0, 0), 0.0);
  EXPECT_EQ(uniform_double(0, 0x7FF), 0.0);
  EXPECT_EQ(uniform_double(0, 0x800), 0x1p-53);
  EXPECT_EQ(uniform_double(0xFFFFFFFF, 0xFFFFFFFF), 1.0 - 0x1p-53);
  EXPECT_EQ(uniform_double(0x80000000, 0), 0.5);
}

TEST(Uniform, ReadsTheStreamInPairsOfWords) {
  const RandomKey key{.seed = 5, .purpose = Purpose::data, .epoch = 2, .sample = 9, .layer = 3};
  for (std::uint64_t element = 0; element < 10; ++element) {
    const auto words = random_block(key, element / 2);
    const std::size_t first = 2 * (element % 2);
    EXPECT_EQ(uniform(key, element), uniform_double(words[first], words[first + 1]));
  }
}

// Golden values: a change here breaks every published weight hash, so it needs a new numerics_version.
TEST(Uniform, GoldenValues) {
  const RandomKey key{.seed = 1, .purpose = Purpose::init, .epoch = 0, .sample = 0, .layer = 2};
  EXPECT_EQ(random_bits(key, 0), 0x877192313c1e5befU);
  EXPECT_EQ(random_bits(key, 1), 0xbfcebcf73d3e0a31U);
  EXPECT_EQ(random_bits(key, 1000000007), 0xb1290dc597093023U);
}

TEST(Uniform, MeanVarianceAndChiSquare) {
  constexpr int kCount = 1 << 20, kBins = 256;
  const RandomKey key{.seed = 42, .purpose = Purpose::data};
  double sum = 0, square = 0;
  std::array<int, kBins> bins{};
  for (std::uint64_t i = 0; i < kCount; ++i) {
    const double u = uniform(key, i);
    ASSERT_GE(u, 0.0);
    ASSERT_LT(u, 1.0);
    sum += u - 0.5;
    square += (u - 0.5) * (u - 0.5);
    ++bins[static_cast<std::size_t>(u * kBins)];
  }
  // Five standard deviations of the mean and of the second moment (kurtosis of a uniform: 9/5).
  EXPECT_LT(std::abs(sum / kCount), 5 * std::sqrt(1.0 / 12 / kCount));
  EXPECT_LT(std::abs(square / kCount - 1.0 / 12), 5 * std::sqrt((1.0 / 80 - 1.0 / 144) / kCount));
  double chi_square = 0;
  const double expected = static_cast<double>(kCount) / kBins;
  for (const int hits : bins) chi_square += (hits - expected) * (hits - expected) / expected;
  // 255 degrees of freedom: mean 255, standard deviation 22.6; too even is as wrong as too uneven.
  EXPECT_GT(chi_square, 255 - 4 * 22.6);
  EXPECT_LT(chi_square, 255 + 5 * 22.6);
}

// Streams that differ in one field must be independent: their correlation vanishes.
TEST(Uniform, NeighbouringStreamsAreUncorrelated) {
  constexpr int kCount = 1 << 17;
  const RandomKey base{.seed = 3, .purpose = Purpose::dropout, .epoch = 4, .sample = 5, .layer = 6};
  std::array<RandomKey, 5> others = {base, base, base, base, base};
  others[0].seed = 4;
  others[1].purpose = Purpose::augment;
  others[2].epoch = 5;
  others[3].sample = 6;
  others[4].layer = 7;
  for (const RandomKey& other : others) {
    double product = 0;
    for (std::uint64_t i = 0; i < kCount; ++i) product += (uniform(base, i) - 0.5) * (uniform(other, i) - 0.5);
    EXPECT_LT(std::abs(product / kCount), 5.0 / 12 / std::sqrt(static_cast<double>(kCount)));
  }
}

TEST(Permutation, IsAPermutation) {
  for (const std::int64_t count : {0, 1, 2, 3, 17, 1000}) {
    std::vector<std::int64_t> order = permutation(11, Purpose::shuffle, 3, count);
    std::sort(order.begin(), order.end());
    ASSERT_EQ(static_cast<std::int64_t>(order.size()), count);
    for (std::int64_t i = 0; i < count; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
  }
}

TEST(Permutation, DependsOnSeedPurposeAndEpoch) {
  const auto order = permutation(1, Purpose::shuffle, 0, 100);
  EXPECT_EQ(order, permutation(1, Purpose::shuffle, 0, 100));
  EXPECT_NE(order, permutation(2, Purpose::shuffle, 0, 100));
  EXPECT_NE(order, permutation(1, Purpose::split, 0, 100));
  EXPECT_NE(order, permutation(1, Purpose::shuffle, 1, 100));
}

TEST(Permutation, GoldenValues) {
  EXPECT_EQ(permutation(1, Purpose::shuffle, 0, 10), (std::vector<std::int64_t>{9, 5, 1, 6, 8, 7, 4, 3, 0, 2}));
}

TEST(Permutation, EveryOrderIsEquallyLikely) {
  constexpr int kTrials = 24000;
  std::map<std::vector<std::int64_t>, int> counts;
  for (std::uint32_t epoch = 0; epoch < kTrials; ++epoch) ++counts[permutation(9, Purpose::shuffle, epoch, 4)];
  ASSERT_EQ(counts.size(), 24U);
  double chi_square = 0;
  for (const auto& [order, hits] : counts) chi_square += (hits - 1000.0) * (hits - 1000.0) / 1000.0;
  EXPECT_LT(chi_square, 23 + 5 * std::sqrt(2 * 23.0));  // 23 degrees of freedom
}

TEST(Permutation, RefusesANegativeCount) { EXPECT_THROW(permutation(1, Purpose::shuffle, 0, -1), Error); }

}  // namespace
}  // namespace lockstep
