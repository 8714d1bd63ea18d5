#include "cli/rank_times.hpp"

#include <gtest/gtest.h>

namespace lockstep::cli {
namespace {

TEST(RankTimes, AStragglerIsNamed) {
  std::vector<PhaseTimes> ranks(4, {.forward = 1, .backward = 2, .wait = 1});
  EXPECT_FALSE(find_straggler(ranks));
  ranks[2].backward = 4;
  ranks[1].wait = 9;  // waiting is no work
  const auto found = find_straggler(ranks);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->rank, 2);
  EXPECT_DOUBLE_EQ(found->ratio, 5.0 / 3.0);
}

TEST(RankTimes, NoiseIsNoStraggler) {
  EXPECT_FALSE(find_straggler({}));
  EXPECT_FALSE(find_straggler({{.forward = 5}}));
  EXPECT_FALSE(find_straggler({{.forward = 1}, {.forward = 1.2}}));
  EXPECT_TRUE(find_straggler({{.forward = 1}, {.forward = 1.3}}));
  EXPECT_FALSE(find_straggler({{.forward = 0.01}, {.forward = 0.1}})) << "too short to judge";
}

TEST(RankTimes, LinesShowMeanAndSlowest) {
  const std::vector<std::string> lines = rank_time_lines({{.load = 1, .wait = 2}, {.load = 3}}, 1000);
  ASSERT_EQ(lines.size(), 1 + std::size(kPhases));
  EXPECT_EQ(lines[0], "  ms per step   mean  slowest  rank");
  EXPECT_EQ(lines[1], "  load         2.000    3.000  1");
  EXPECT_EQ(lines.back(), "  wait         1.000    2.000  0");
}

}  // namespace
}  // namespace lockstep::cli
