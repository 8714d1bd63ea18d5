#pragma once
// The rules of measuring (Hoefler and Belli, 2015), and which of them a ladder kept: checked on its figures.

#include "cli/ladder/measurement.hpp"

namespace lockstep::cli {

/// `warnings`: of lockstep doctor.
std::vector<report::Rule> ladder_rules(const LadderMeasurement& ladder, const LadderArguments& arguments,
                                       std::size_t warnings);

}  // namespace lockstep::cli
