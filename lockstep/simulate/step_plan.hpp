#pragma once
// Some steps of training as several ranks take them, on a simulated cluster or on real ones: what to train, and how the
// ranks share the work. It travels as a file, so it is text.

#include <cstdint>
#include <string>

#include "lockstep/config/config.hpp"

namespace lockstep {

struct StepPlan {
  std::string config;                 // a configuration, as resolved_toml writes it
  std::int64_t batch = 0, slots = 0;  // in place of the configuration's
  ParallelOptions parallel{};
  int steps = 1;  // that count; one more comes before them
};

std::string plan_json(const StepPlan& plan);
/// Error(usage) when it is none.
StepPlan parse_plan(const std::string& json);

/// The configuration of the plan: its own batch, slots and parallel options, one thread per rank, samples in their
/// order, and random weights.
RunConfig config_of(const StepPlan& plan);

}  // namespace lockstep
