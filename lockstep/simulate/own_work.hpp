#pragma once
// What one rank of several computes in a step, in the shapes that it has there: narrower layers, a stage, its share of
// the slots. Measured by running the steps without waiting for other ranks.

#include "lockstep/data/dataset.hpp"
#include "lockstep/simulate/rates.hpp"
#include "lockstep/simulate/step_plan.hpp"

namespace lockstep {

/// The rates of rank `rank` of `ranks` in steps of the plan, the first not counted; on the calling thread. `samples`
/// are those of make_step_samples. They make up the time of the steps, so sections that count no work have a time per
/// call.
SectionRates measure_own_work(const StepPlan& plan, const Dataset& samples, int rank, int ranks);

}  // namespace lockstep
