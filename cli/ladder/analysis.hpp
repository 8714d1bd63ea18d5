#pragma once
// From what was measured to results: one per rung, their sections, fits, roofline, verdicts and rules.

#include <vector>

#include "cli/ladder/measurement.hpp"
#include "lockstep/lab/doctor.hpp"
#include "lockstep/lab/efficiency.hpp"
#include "lockstep/lab/results.hpp"

namespace lockstep::cli {

/// In the order in which they are written. `origin` says where they were made; warnings of `findings` go into each.
std::vector<Result> ladder_results(const LadderMeasurement& ladder, const LadderArguments& arguments,
                                   const ResultOrigin& origin, const std::vector<Finding>& findings);

// limits.cpp: where the time of a rung goes, from the phases of its ranks and the spans of its threads.

/// The peak that a rung is compared with: of one processor, or of all.
struct RungCeiling {
  double flops = 0, bandwidth = 0;
};
RungCeiling ceiling_of(const Rung& rung, const CeilingsRecord& ceilings);
/// What limits a rung that reaches this speed.
Limit limit_of(const RungMeasurement& measured, const CeilingsRecord& ceilings, double flops_per_second);
/// The POP factors of a rung with several workers; nothing where no phases are known.
std::optional<PopFactors> pop_factors_of(const RungMeasurement& measured);

// rules.cpp: the rules of measuring (Hoefler and Belli, 2015), checked on the figures of the run.

/// `warnings`: the number of those of lockstep doctor.
std::vector<report::Rule> ladder_rules(const LadderMeasurement& ladder, const LadderArguments& arguments,
                                       std::size_t warnings);

}  // namespace lockstep::cli
