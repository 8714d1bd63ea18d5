#pragma once
// From what was measured to results: one per rung, their sections, fits, roofline, verdicts and rules.

#include <string>
#include <vector>

#include "cli/ladder/measurement.hpp"
#include "lockstep/lab/doctor.hpp"
#include "lockstep/lab/efficiency.hpp"
#include "lockstep/lab/results.hpp"

namespace lockstep::cli {

/// In the order in which they are written. `origin` says where they were made; warnings of `findings` go into each.
std::vector<Result> ladder_results(const LadderMeasurement& ladder, const LadderArguments& arguments,
                                   const ResultOrigin& origin, const std::vector<Finding>& findings);

// scaling.cpp: strong and weak scaling: laws fitted to the times, the prediction from the spans beside them.

struct NamedFit {
  std::string name;  // "amdahl threads"
  FitRecord record{};
};

/// The measured speed-ups over threads, ranks and growing work, each with the laws fitted to them. A law that cannot be
/// fitted has a line that says why.
std::vector<NamedFit> scaling_fits(const LadderMeasurement& ladder);

// rules.cpp: the rules of measuring (Hoefler and Belli, 2015), checked on the figures of the run.

/// `warnings`: the number of those of lockstep doctor.
std::vector<report::Rule> ladder_rules(const LadderMeasurement& ladder, const LadderArguments& arguments,
                                       std::size_t warnings);

}  // namespace lockstep::cli
