#include "lockstep/parallel/pipeline_schedule.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace lockstep {
namespace {

std::string text(PipelineSchedule schedule, int stage, int stages, std::int64_t chunks) {
  std::string steps;
  for (const PipelineStep& step : pipeline_steps(schedule, stage, stages, chunks))
    steps += (step.forward ? "F" : "B") + std::to_string(step.chunk);
  return steps;
}

TEST(PipelineSchedule, IsTheOneOfTheTextbook) {
  using enum PipelineSchedule;
  EXPECT_EQ(text(gpipe, 0, 2, 3), "F0F1F2B0B1B2");
  EXPECT_EQ(text(gpipe, 1, 2, 3), "F0F1F2B0B1B2");
  EXPECT_EQ(text(one_forward_one_backward, 0, 3, 5), "F0F1F2B0F3B1F4B2B3B4");
  EXPECT_EQ(text(one_forward_one_backward, 1, 3, 5), "F0F1B0F2B1F3B2F4B3B4");
  EXPECT_EQ(text(one_forward_one_backward, 2, 3, 5), "F0B0F1B1F2B2F3B3F4B4");
  EXPECT_EQ(text(one_forward_one_backward, 0, 4, 2), "F0F1B0B1");
  EXPECT_EQ(text(gpipe, 0, 2, 0), "");
}

TEST(PipelineSchedule, HasNoMoreInFlightThanItSays) {
  for (const PipelineSchedule schedule : {PipelineSchedule::gpipe, PipelineSchedule::one_forward_one_backward})
    for (const int stages : {1, 2, 5})
      for (int stage = 0; stage < stages; ++stage)
        for (const std::int64_t chunks : {0, 1, 3, 16}) {
          std::int64_t flying = 0, most = 0;
          for (const PipelineStep& step : pipeline_steps(schedule, stage, stages, chunks)) {
            flying += step.forward ? 1 : -1;
            most = std::max(most, flying);
          }
          EXPECT_EQ(flying, 0);
          EXPECT_EQ(most, chunks_in_flight(schedule, stage, stages, chunks));
        }
}

}  // namespace
}  // namespace lockstep
