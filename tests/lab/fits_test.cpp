#include "lockstep/lab/fits.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace lockstep {
namespace {

/// Seven samples around `seconds`, within one percent.
std::vector<double> around(double seconds) {
  std::vector<double> samples;
  for (const double noise : {-0.010, 0.004, -0.003, 0.009, 0.0, -0.007, 0.006})
    samples.push_back(seconds * (1 + noise));
  return samples;
}

template <class Speedup>
std::vector<ScalingPoint> strong(std::initializer_list<double> workers, Speedup speedup) {
  std::vector<ScalingPoint> points;
  for (const double p : workers) points.push_back({p, around(10 / speedup(p))});
  return points;
}

void expect_near(const FittedValue& fitted, double truth) {
  EXPECT_NEAR(fitted.value, truth, 1e-9);
  EXPECT_LE(fitted.low, truth);
  EXPECT_GE(fitted.high, truth);
  EXPECT_LT(fitted.high - fitted.low, 0.05);
  EXPECT_GT(fitted.high - fitted.low, 0);
}

TEST(Fits, AmdahlFindsTheSerialShare) {
  const auto points = strong({1, 2, 4, 8}, [](double p) { return amdahl_speedup(0.1, p); });
  const auto fit = fit_amdahl(points, 16);
  ASSERT_TRUE(fit);
  expect_near(*fit->serial, 0.1);
  EXPECT_FALSE(fit->exact);
  for (std::size_t i = 0; i < fit->workers.size(); ++i) {
    EXPECT_NEAR(fit->speedup[i], amdahl_speedup(0.1, fit->workers[i]), 1e-9);
    EXPECT_LE(fit->low[i], fit->speedup[i]);
    EXPECT_GE(fit->high[i], fit->speedup[i]);
  }
  EXPECT_EQ(fit->workers.back(), 16);
}

TEST(Fits, UslFindsContentionAndCoherence) {
  const auto points = strong({1, 2, 4, 8, 16}, [](double p) { return p / (1 + 0.05 * (p - 1) + 0.002 * p * (p - 1)); });
  const auto fit = fit_usl(points, 32);
  ASSERT_TRUE(fit);
  expect_near(*fit->contention, 0.05);
  expect_near(*fit->coherence, 0.002);
}

TEST(Fits, GustafsonFindsTheSerialShareOfGrowingWork) {
  std::vector<ScalingPoint> points;
  for (const double p : {1.0, 2.0, 4.0}) points.push_back({p, around(10 * p / (p - 0.2 * (p - 1)))});
  const auto fit = fit_gustafson(points, 8);
  ASSERT_TRUE(fit);
  expect_near(*fit->serial, 0.2);
}

TEST(Fits, NoFitThroughTooFewPoints) {
  const auto ideal = [](double p) { return p; };
  EXPECT_FALSE(fit_amdahl(strong({1}, ideal), 4));
  EXPECT_FALSE(fit_amdahl(strong({2, 4}, ideal), 4)) << "without the time of one worker";
  EXPECT_FALSE(fit_usl(strong({1, 2}, ideal), 4));
  EXPECT_FALSE(fit_usl(strong({1, 2, 2}, ideal), 4)) << "the same point twice";
  const auto exact = fit_amdahl(strong({1, 2}, ideal), 4);
  ASSERT_TRUE(exact);
  EXPECT_TRUE(exact->exact);
  EXPECT_NEAR(exact->serial->value, 0, 1e-9);
  EXPECT_FALSE(fit_amdahl({{1, {1.0}}, {2, {}}}, 4)) << "a point without samples";
}

TEST(Fits, BandsAreTheSameEveryTime) {
  const auto points = strong({1, 2, 4}, [](double p) { return amdahl_speedup(0.3, p); });
  EXPECT_EQ(fit_amdahl(points, 8)->low, fit_amdahl(points, 8)->low);
}

TEST(Fits, KarpFlattInvertsAmdahl) {
  for (const double p : {2.0, 3.0, 16.0}) EXPECT_NEAR(karp_flatt(amdahl_speedup(0.07, p), p), 0.07, 1e-12);
  EXPECT_LT(karp_flatt(2.2, 2), 0) << "more than ideal";
}

TEST(Fits, DisagreementIsBeyondIntervalAndSlack) {
  const FittedValue fitted{0.10, 0.08, 0.12};
  EXPECT_FALSE(disagrees(0.125, fitted));
  EXPECT_TRUE(disagrees(0.15, fitted));
  EXPECT_TRUE(disagrees(0.01, fitted));
}

TEST(Fits, WhatCannotBeAShareIsNotUsable) {
  EXPECT_TRUE(is_share({0.1, 0.05, 0.15}));
  EXPECT_TRUE(is_share({-0.02, -0.03, -0.01})) << "more cache";
  EXPECT_TRUE(is_share({1.1, 0.8, 1.4})) << "100 % is within the interval";
  EXPECT_FALSE(is_share({1.2, 1.15, 1.24}));
  EXPECT_FALSE(is_share({7.01, 0.9, 9})) << "701 %, however wide the interval";
  EXPECT_FALSE(is_share({-0.5, -0.9, 0.1}));
  EXPECT_TRUE(is_efficiency(0.95));
  EXPECT_TRUE(is_efficiency(1.1));
  EXPECT_FALSE(is_efficiency(3.04)) << "304 % of 2";
}

}  // namespace
}  // namespace lockstep
