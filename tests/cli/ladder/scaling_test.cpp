// What the ladder says of scaling: laws only of what can be one, intervals only of enough samples.

#include "cli/ladder/scaling.hpp"

#include <gtest/gtest.h>

namespace lockstep::cli {
namespace {

Climbed climbed(RungGroup group, int threads, std::vector<double> seconds) {
  Climbed made{.rung = {.id = "rung", .title = "rung", .group = group, .threads = threads}, .samples = 100};
  made.sampled.samples = std::move(seconds);
  return made;
}

/// One thread takes a second; two threads take `seconds`.
std::vector<Result> study_of(std::size_t samples, double seconds) {
  Climb climb;
  climb.ceilings.threads = 2;
  climb.rungs = {climbed(RungGroup::simd, 1, std::vector<double>(samples, 1.0)),
                 climbed(RungGroup::threads, 2, std::vector<double>(samples, seconds))};
  std::vector<Result> results;
  const Result common{.kind = "fit", .name = ""};
  ScalingStudy(climb, common).add_to(results);
  return results;
}

const Result& named(const std::vector<Result>& results, const std::string& name) {
  for (const Result& each : results)
    if (each.name == name) return each;
  throw std::runtime_error("no result " + name);
}

TEST(LadderScaling, ALawWithItsInterval) {
  const auto results = study_of(6, 0.55);
  const Result& fit = named(results, "amdahl threads");
  EXPECT_NEAR(*fit.number("serial"), 0.1, 1e-9);
  EXPECT_TRUE(fit.number("serial_low"));
  EXPECT_NE(fit.word("text").find("10.0 % (95 %: 10.0 to 10.0)"), std::string::npos) << fit.word("text");
  EXPECT_TRUE(named(results, "measured threads").series.contains("low"));
}

TEST(LadderScaling, FewSamplesHaveNoInterval) {
  const auto results = study_of(2, 0.55);
  const Result& fit = named(results, "amdahl threads");
  EXPECT_NE(fit.word("text").find("10.0 % (n = 2)"), std::string::npos) << fit.word("text");
  EXPECT_FALSE(fit.number("serial_low"));
  EXPECT_FALSE(fit.series.contains("low"));
  EXPECT_FALSE(named(results, "measured threads").series.contains("low"));
  EXPECT_EQ(named(results, "measured threads").series.at("n"), (std::vector<double>{2, 2}));
}

TEST(LadderScaling, WhatCannotBeAShareIsNotUsable) {
  for (const double seconds : {4.0, 0.16})  // slower than one, and six times as fast as one
    for (const std::size_t samples : {2U, 6U}) {
      const auto results = study_of(samples, seconds);
      const Result& fit = named(results, "amdahl threads");
      EXPECT_EQ(fit.word("law"), "none");
      EXPECT_EQ(fit.word("text").find("Amdahl's serial share of threads: not usable: the machine was busy"), 0U)
          << fit.word("text");
      EXPECT_FALSE(fit.number("serial"));
      EXPECT_TRUE(fit.series.empty()) << "no curve is drawn";
    }
}

}  // namespace
}  // namespace lockstep::cli
