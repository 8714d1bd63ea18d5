// The rules of measuring are checked on the figures of the run: each is broken by figures that break it.

#include <gtest/gtest.h>

#include "cli/ladder/analysis.hpp"

namespace lockstep::cli {
namespace {

using State = report::Rule::State;

/// Two rungs that took turns, three samples each; the second on two ranks.
LadderMeasurement good() {
  LadderMeasurement ladder{.epoch_samples = 10};
  for (const int ranks : {1, 2}) {
    RungMeasurement& rung = ladder.rungs.emplace_back();
    rung.rung = {.id = "naive", .title = "", .ranks = ranks};
    rung.samples = 10;
    rung.sampled = {.name = "", .samples = {1, 1, 1}, .end = SamplingEnd::settled};
    rung.turns = {ranks, 2 + ranks, 4 + ranks};
    rung.last = {.seconds = 2, .warm_up_epochs = 1};
    for (int rank = 0; rank < ranks; ++rank) rung.last.ranks.push_back({{"total", 2.0 - rank}});
  }
  return ladder;
}

State state_of(const LadderMeasurement& ladder, const std::string& rule) {
  for (const report::Rule& each : ladder_rules(ladder, {}, 0))
    if (each.rule == rule) return each.state;
  throw std::runtime_error("no rule " + rule);
}

TEST(LadderRules, KeptByAGoodRun) {
  for (const char* rule : {"Variants interleaved", "Warm-up not counted", "Every sample kept",
                           "The slowest rank counts", "The whole of the work measured"})
    EXPECT_EQ(state_of(good(), rule), State::kept) << rule;
}

TEST(LadderRules, BrokenByFiguresThatBreakThem) {
  LadderMeasurement ladder = good();
  ladder.rungs[0].turns = {1, 2, 3};
  ladder.rungs[1].turns = {4, 5, 6};
  EXPECT_EQ(state_of(ladder, "Variants interleaved"), State::partly);
  ladder = good();
  ladder.rungs[0].last.warm_up_epochs = ladder.rungs[1].last.warm_up_epochs = 0;
  EXPECT_EQ(state_of(ladder, "Warm-up not counted"), State::broken);
  ladder = good();
  ladder.rungs[0].sampled.samples = {1, 1};
  EXPECT_EQ(state_of(ladder, "Every sample kept"), State::partly);
  ladder = good();
  ladder.rungs[1].last.seconds = 1;
  EXPECT_EQ(state_of(ladder, "The slowest rank counts"), State::broken);
  ladder.rungs.pop_back();
  EXPECT_EQ(state_of(ladder, "The slowest rank counts"), State::not_applicable);
  EXPECT_EQ(state_of(ladder, "Variants interleaved"), State::not_applicable);
}

}  // namespace
}  // namespace lockstep::cli
