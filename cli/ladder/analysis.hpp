#pragma once
// From what was measured to results: one per rung, their sections, fits, roofline, verdicts and rules.

#include <vector>

#include "cli/ladder/measurement.hpp"
#include "lockstep/lab/doctor.hpp"
#include "lockstep/lab/results.hpp"

namespace lockstep::cli {

/// In the order in which they are written. `origin` says where they were made; warnings of `findings` go into each.
std::vector<Result> ladder_results(const LadderMeasurement& ladder, const LadderArguments& arguments,
                                   const ResultOrigin& origin, const std::vector<Finding>& findings);

}  // namespace lockstep::cli
