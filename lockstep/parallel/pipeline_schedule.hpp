#pragma once
// The order in which a stage of a pipeline computes the chunks of a batch.
//
//   gpipe  all forwards, then all backwards: the chunks of a whole batch are in flight.
//   1f1b   a forward for each later stage, then one backward after each forward: at most stages - stage chunks are in
//          flight, for the same bubble.
//
// Backwards come in the order of the chunks either way, as the tree over slots needs them.

#include <algorithm>
#include <cstdint>
#include <vector>

namespace lockstep {

enum class PipelineSchedule { one_forward_one_backward, gpipe };

struct PipelineStep {
  bool forward = true;
  std::int64_t chunk = 0;
  bool operator==(const PipelineStep&) const = default;
};

/// Chunks that are between their forward and their backward at the same time, at most.
inline std::int64_t chunks_in_flight(PipelineSchedule schedule, int stage, int stages, std::int64_t chunks) {
  return schedule == PipelineSchedule::gpipe ? chunks : std::min<std::int64_t>(chunks, stages - stage);
}

inline std::vector<PipelineStep> pipeline_steps(PipelineSchedule schedule, int stage, int stages, std::int64_t chunks) {
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
