#include "lockstep/run/rank_map.hpp"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

std::optional<Straggler> judged(const std::vector<PhaseTimes>& ranks, std::int64_t steps = 100) {
  return StragglerWatch().add(ranks, steps);
}

TEST(RankTimes, AStragglerIsNamed) {
  std::vector<PhaseTimes> ranks(4, {.forward = 1, .backward = 2, .wait = 1});
  EXPECT_FALSE(judged(ranks));
  ranks[2].backward = 4;
  ranks[1].wait = 9;  // waiting is no work
  const auto found = judged(ranks);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->rank, 2);
  EXPECT_DOUBLE_EQ(found->ratio, 5.0 / 3.0);
}

TEST(RankTimes, NoiseIsNoStraggler) {
  EXPECT_FALSE(judged({}));
  EXPECT_FALSE(judged({{.forward = 5}}));
  EXPECT_FALSE(judged({{.forward = 1}, {.forward = 1.2}}));
  EXPECT_TRUE(judged({{.forward = 1}, {.forward = 1.3}}));
  EXPECT_FALSE(judged({{.forward = 0.01}, {.forward = 0.9}})) << "too short to judge";
  EXPECT_FALSE(judged({{.forward = 1}, {.forward = 30}}, 99)) << "too few steps to judge";
}

TEST(RankTimes, StepsOfAllEpochsCountAndItIsSaidOnce) {
  StragglerWatch watch;
  for (int epoch = 0; epoch < 9; ++epoch) EXPECT_FALSE(watch.add({{.forward = 1}, {.forward = 2}}, 10)) << epoch;
  const auto found = watch.add({{.forward = 1}, {.forward = 2}}, 10);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->rank, 1);
  EXPECT_FALSE(watch.add({{.forward = 1}, {.forward = 2}}, 1000));
}

TEST(RankTimes, LinesShowMeanAndSlowest) {
  const std::vector<std::string> lines = rank_time_lines({{.load = 1, .wait = 2}, {.load = 3}}, 1000);
  ASSERT_EQ(lines.size(), 1 + std::size(kPhases));
  EXPECT_EQ(lines[0], "  ms per step   mean  slowest  rank");
  EXPECT_EQ(lines[1], "  load         2.000    3.000  1");
  EXPECT_EQ(lines.back(), "  wait         1.000    2.000  0");
}

}  // namespace
}  // namespace lockstep
