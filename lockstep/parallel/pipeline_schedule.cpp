#include "lockstep/parallel/pipeline_schedule.hpp"

#include <algorithm>

namespace lockstep {

std::int64_t chunks_in_flight(PipelineSchedule schedule, int stage, int stages, std::int64_t chunks) {
  return schedule == PipelineSchedule::gpipe ? chunks : std::min<std::int64_t>(chunks, stages - stage);
}

std::vector<PipelineStep> pipeline_steps(PipelineSchedule schedule, int stage, int stages, std::int64_t chunks) {
  // Chunks by which forwards run ahead of backwards.
  const std::int64_t ahead = chunks_in_flight(schedule, stage, stages, chunks);
  std::vector<PipelineStep> steps;
  for (std::int64_t forward = 0, backward = 0; backward < chunks;) {
    if (forward < chunks && forward - backward < ahead)
      steps.push_back({true, forward++});
    else
      steps.push_back({false, backward++});
  }
  return steps;
}

}  // namespace lockstep
