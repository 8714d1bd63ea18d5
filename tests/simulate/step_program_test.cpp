#include "lockstep/simulate/step_program.hpp"

#include <gtest/gtest.h>

#include "lockstep/core/error.hpp"
#include "lockstep/lab/profile.hpp"
#include "lockstep/simulate/calibrate.hpp"

namespace lockstep {
namespace {

constexpr const char* kConfig = R"(
[data]
source = "moons"
[model]
sizes = "2-16-1"
output = "sigmoid"
[train]
loss = "binary-cross-entropy"
)";

StepPlan plan() { return {.config = kConfig, .batch = 64, .slots = 4, .steps = 2}; }

TEST(StepPlan, SurvivesItsFile) {
  StepPlan one = plan();
  one.parallel = {.reduce = RankReduction::gather, .tensor = 2, .pipeline = 3, .schedule = PipelineSchedule::gpipe};
  const StepPlan two = parse_plan(plan_json(one));
  EXPECT_EQ(two.config, one.config);
  EXPECT_EQ(two.batch, 64);
  EXPECT_EQ(two.slots, 4);
  EXPECT_EQ(two.steps, 2);
  EXPECT_EQ(two.parallel.reduce, RankReduction::gather);
  EXPECT_EQ(two.parallel.tensor, 2);
  EXPECT_EQ(two.parallel.pipeline, 3);
  EXPECT_EQ(two.parallel.schedule, PipelineSchedule::gpipe);
  EXPECT_THROW(parse_plan("{}"), Error);
}

TEST(StepProgram, TakesTheStepsAndNoMore) {
  double clock = 0;
  Ranks alone(make_self_transport());
  const StepTimes times = run_steps(plan(), *make_step_samples(plan()), alone, {.seconds = [&] { return clock += 1; }});
  EXPECT_EQ(times.ends, (std::vector<double>{1, 2, 3}));  // one to warm up, and two
  EXPECT_EQ(times.weight_hash.size(), 64U);
  EXPECT_EQ(step_seconds({times}), (std::vector<double>{1, 1}));
}

TEST(StepProgram, TheSlowestRankCounts) {
  EXPECT_EQ(step_seconds({{.ends = {0, 1, 2}}, {.ends = {0, 3, 4}}}), (std::vector<double>{3, 1}));
}

TEST(StepProgram, LatenessThatIsMadeUpForCountsOnce) {
  // One rank is late in the first step, the other in the second: single steps look long, together they took four.
  const std::vector<StepTimes> ranks = {{.ends = {0, 3, 4}}, {.ends = {0, 1, 4}}};
  EXPECT_EQ(step_seconds(ranks), (std::vector<double>{3, 3}));
  EXPECT_EQ(mean_step_seconds(ranks), 2);
}

TEST(OwnWork, OfARankAmongOthersNeedsNoOthers) {
  StepPlan whole = plan(), half = plan(), stage = plan();
  half.parallel.tensor = 2;
  stage.parallel.pipeline = 2;
  const auto samples = make_step_samples(whole);
  const auto work = [&](const StepPlan& each, int rank, int ranks, std::int32_t section) {
    const SectionRates rates = measure_own_work(each, *samples, rank, ranks);
    const auto& points = rates.sections[static_cast<std::size_t>(section)];
    return points.empty() ? 0.0 : points.front().work;
  };
  const double all = work(whole, 0, 1, forward_section(0));
  EXPECT_GT(all, 0);
  EXPECT_DOUBLE_EQ(work(whole, 1, 2, forward_section(0)), all / 2);  // half the slots, in one chunk
  EXPECT_DOUBLE_EQ(work(half, 1, 2, forward_section(0)), all / 2);   // half the neurons
  EXPECT_GT(work(stage, 0, 2, forward_section(0)), 0);
  EXPECT_EQ(work(stage, 1, 2, forward_section(0)), 0);  // the layers of the other stage
  const SectionRates rates = measure_own_work(half, *samples, 0, 2);
  EXPECT_GT(rates.call_seconds[kGatherSection], 0);
  EXPECT_EQ(rates.call_seconds[kReportSection], 0);
}

TEST(Calibrate, SplitLayersHaveTheWorkOfTheirParts) {
  StepPlan split = plan();
  split.parallel.tensor = 2;
  const auto most = [](const StepPlan& each) {
    return measure_rates(each, {.seconds = 0, .least = 1})
        .sections[static_cast<std::size_t>(forward_section(0))]
        .back();
  };
  EXPECT_DOUBLE_EQ(most(split).work, most(plan()).work / 2);
  EXPECT_GT(most(split).seconds, 0);
}

TEST(Calibrate, EveryLayerGetsPoints) {
  const SectionRates rates = measure_rates(plan(), {.seconds = 0, .least = 1});
  // linear, relu or the like, linear: what is computed has a price, and more work never costs less.
  ASSERT_GE(rates.sections.size(), static_cast<std::size_t>(backward_section(2)) + 1);
  for (const std::int32_t section : {kLoadSection, kLossSection, kReduceSection, kUpdateSection, forward_section(0),
                                     backward_section(0), forward_section(2), backward_section(2)}) {
    const auto& points = rates.sections[static_cast<std::size_t>(section)];
    ASSERT_FALSE(points.empty()) << section;
    for (std::size_t i = 1; i < points.size(); ++i) {
      EXPECT_GT(points[i].work, points[i - 1].work);
      EXPECT_GE(points[i].seconds, points[i - 1].seconds);
    }
  }
  EXPECT_TRUE(rates.sections[kWaitSection].empty());
}

}  // namespace
}  // namespace lockstep
