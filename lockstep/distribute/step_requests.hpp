#pragma once

namespace lockstep {

/// Requests of one rank for the step that runs. All ranks hear of them, and act after the same step.
struct StepRequests {
  bool stop = false;  // end the training
  bool save = false;  // make Trainer::state() complete in on_step
};

}  // namespace lockstep
