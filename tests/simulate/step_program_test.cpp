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
