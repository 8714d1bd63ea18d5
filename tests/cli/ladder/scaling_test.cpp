// What the ladder says of scaling: laws only of what can be one, intervals only of enough samples.

#include "cli/ladder/analysis.hpp"

#include <gtest/gtest.h>

namespace lockstep::cli {
namespace {

RungMeasurement measured(RungGroup group, int threads, std::vector<double> seconds) {
  RungMeasurement made{.rung = {.id = "rung", .title = "rung", .group = group, .threads = threads}, .samples = 100};
  made.sampled.samples = std::move(seconds);
  return made;
}

/// One thread takes a second; two threads take `seconds`.
std::vector<NamedFit> fits_of(std::size_t samples, double seconds) {
  LadderMeasurement ladder;
  ladder.ceilings.threads = 2;
  ladder.rungs = {measured(RungGroup::simd, 1, std::vector<double>(samples, 1.0)),
                  measured(RungGroup::threads, 2, std::vector<double>(samples, seconds))};
  return scaling_fits(ladder);
}

const FitRecord& named(const std::vector<NamedFit>& fits, const std::string& name) {
  for (const NamedFit& each : fits)
    if (each.name == name) return each.record;
  throw std::runtime_error("no fit " + name);
}

TEST(LadderScaling, ALawWithItsInterval) {
  const auto fits = fits_of(6, 0.55);
  const FitRecord& fit = named(fits, "amdahl threads");
  EXPECT_NEAR(*fit.serial, 0.1, 1e-9);
  EXPECT_TRUE(fit.serial_low);
  EXPECT_NE(fit.text.find("10.0 % (95 %: 10.0 to 10.0)"), std::string::npos) << fit.text;
  EXPECT_FALSE(named(fits, "measured threads").low.empty());
}

TEST(LadderScaling, FewSamplesHaveNoInterval) {
  const auto fits = fits_of(2, 0.55);
  const FitRecord& fit = named(fits, "amdahl threads");
  EXPECT_NE(fit.text.find("10.0 % (n = 2)"), std::string::npos) << fit.text;
  EXPECT_FALSE(fit.serial_low);
  EXPECT_TRUE(fit.low.empty());
  EXPECT_TRUE(named(fits, "measured threads").low.empty());
  EXPECT_EQ(named(fits, "measured threads").counts, (std::vector<double>{2, 2}));
}

TEST(LadderScaling, WhatCannotBeAShareIsNotUsable) {
  for (const double seconds : {4.0, 0.16})  // slower than one, and six times as fast as one
    for (const std::size_t samples : {2U, 6U}) {
      const auto fits = fits_of(samples, seconds);
      const FitRecord& fit = named(fits, "amdahl threads");
      EXPECT_EQ(fit.law, ScalingLaw::none);
      EXPECT_EQ(fit.text.find("Amdahl's serial share of threads: not usable: the machine was busy"), 0U) << fit.text;
      EXPECT_FALSE(fit.serial);
      EXPECT_TRUE(fit.workers.empty()) << "no curve is drawn";
    }
}

}  // namespace
}  // namespace lockstep::cli
