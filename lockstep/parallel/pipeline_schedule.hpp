#pragma once
// The order in which a stage of a pipeline computes the chunks of a batch.
//
//   gpipe  all forwards, then all backwards: the chunks of a whole batch are in flight.
//   1f1b   a forward for each later stage, then one backward after each forward: at most stages - stage chunks are in
//          flight, for the same bubble.
//
// Backwards come in the order of the chunks either way, as the tree over slots needs them.

#include <cstdint>
#include <vector>

namespace lockstep {

enum class PipelineSchedule { one_forward_one_backward, gpipe };

struct PipelineStep {
  bool forward = true;
  std::int64_t chunk = 0;
  bool operator==(const PipelineStep&) const = default;
};

std::vector<PipelineStep> pipeline_steps(PipelineSchedule schedule, int stage, int stages, std::int64_t chunks);

/// Chunks that are between their forward and their backward at the same time, at most.
std::int64_t chunks_in_flight(PipelineSchedule schedule, int stage, int stages, std::int64_t chunks);

}  // namespace lockstep
