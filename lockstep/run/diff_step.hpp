#pragma once
// One step of a training, computed in two ways from the same state: where they part; and how far apart the steps after
// it are.

#include <string>
#include <vector>

#include "lockstep/run/run_diff.hpp"

namespace lockstep {

struct StepDifference {
  std::string phase{};  // "forward", "loss", "backward", "update"; "window" (train.truncate)
  std::string place{};  // layer and element, and both values
};

/// Of the step after `before`.
StepDifference compare_step(const TrainingState& before, Recomputation& first, Recomputation& second);

/// After the next step, the one after it, and from there on at steps twice as far, up to `last`. Two replays.
std::vector<Distance> distances(const TrainingState& before, std::int64_t last, Recomputation& first,
                                Recomputation& second);

}  // namespace lockstep
