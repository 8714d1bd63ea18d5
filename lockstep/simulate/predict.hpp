#pragma once
// A step by the alpha-beta model: the work that was charged to the ranks, and the messages between them without
// any contention or overlap.

#include <vector>

#include "lockstep/simulate/alpha_beta.hpp"
#include "lockstep/simulate/step_plan.hpp"

namespace lockstep {

/// Seconds of one step of the plan on as many ranks as there are entries in `work`, the seconds of own work of each.
double predict_step(const StepPlan& plan, const AlphaBeta& network, const std::vector<double>& work);

/// Bytes that one rank of a plan needs in memory, about: what bounds the size of a simulated cluster.
double bytes_per_rank(const StepPlan& plan, int ranks);

}  // namespace lockstep
