#include "lockstep/lab/statistics.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "lockstep/core/error.hpp"

namespace lockstep {
namespace {

std::vector<double> one_to(int n) {
  std::vector<double> values(static_cast<std::size_t>(n));
  std::iota(values.begin(), values.end(), 1.0);
  return values;
}

TEST(Statistics, Median) {
  EXPECT_EQ(median({7}), 7);
  EXPECT_EQ(median({9, 1, 4}), 4);
  EXPECT_EQ(median({9, 1, 4, 2}), 3);
  EXPECT_EQ(median({5, 5, 5, 1}), 5);
}

TEST(Statistics, Summary) {
  // Sorted: 1 2 4 7 11. Median 4; deviations 3 2 0 3 7, sorted 0 2 3 3 7: MAD 3.
  const double samples[] = {11, 2, 7, 1, 4};
  const Summary summary = summarise(samples);
  EXPECT_EQ(summary.count, 5);
  EXPECT_EQ(summary.median, 4);
  EXPECT_EQ(summary.mad, 3);
  EXPECT_EQ(summary.min, 1);
  EXPECT_EQ(summary.max, 11);
}

TEST(Statistics, AnOutlierMovesNothing) {
  const double calm[] = {10, 11, 12, 13, 14}, disturbed[] = {10, 11, 12, 13, 1e9};
  EXPECT_EQ(summarise(calm).median, summarise(disturbed).median);
  EXPECT_EQ(summarise(calm).mad, summarise(disturbed).mad);
}

// The tables of order statistics: n = 6: [1, 6]; 10: [2, 9]; 20: [6, 15]; 30: [10, 21]; 50: [18, 33].
TEST(Statistics, IntervalOfTheMedian) {
  const auto bounds = [](int n) {
    const MedianInterval interval = *median_interval(one_to(n));
    return std::pair(interval.low, interval.high);
  };
  EXPECT_EQ(bounds(6), std::pair(1.0, 6.0));
  EXPECT_EQ(bounds(8), std::pair(1.0, 8.0));
  EXPECT_EQ(bounds(9), std::pair(2.0, 8.0));
  EXPECT_EQ(bounds(10), std::pair(2.0, 9.0));
  EXPECT_EQ(bounds(20), std::pair(6.0, 15.0));
  EXPECT_EQ(bounds(30), std::pair(10.0, 21.0));
  EXPECT_EQ(bounds(50), std::pair(18.0, 33.0));
}

TEST(Statistics, CoverageIsWhatTheSamplesGive) {
  EXPECT_DOUBLE_EQ(median_interval(one_to(6))->coverage, 1 - 2.0 / 64);
  EXPECT_NEAR(median_interval(one_to(10))->coverage, 1 - 2 * 11.0 / 1024, 1e-12);
  EXPECT_NEAR(median_interval(one_to(20))->coverage, 1 - 2 * (1 + 20 + 190 + 1140 + 4845 + 15504) / 1048576.0, 1e-12);
  for (int n = 6; n < 3000; n = n * 5 / 4 + 1) EXPECT_GE(median_interval(one_to(n))->coverage, 0.95) << n;
}

TEST(Statistics, FewSamplesHaveNoInterval) {
  for (int n = 1; n < 6; ++n) {  // [min, max] of 5 holds the median with 1 - 2/32 = 93.75 %: too little
    EXPECT_FALSE(median_interval(one_to(n))) << n;
    EXPECT_FALSE(summarise(one_to(n)).interval) << n;
  }
  EXPECT_TRUE(summarise(one_to(6)).interval);
}

TEST(Statistics, TheOrderOfSamplesDoesNotMatter) {
  const MedianInterval interval = *median_interval({3, 10, 1, 7, 9, 4, 2, 8, 6, 5});
  EXPECT_EQ(interval.low, 2);
  EXPECT_EQ(interval.high, 9);
}

TEST(Statistics, NoSamplesAreRefused) {
  EXPECT_THROW(median({}), Error);
  EXPECT_THROW(median_interval({}), Error);
  EXPECT_THROW(summarise({}), Error);
}

}  // namespace
}  // namespace lockstep
