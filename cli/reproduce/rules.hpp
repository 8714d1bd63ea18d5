#pragma once
// The rules of measuring (Hoefler and Belli, 2015), and which of them an experiment kept: from its results.

#include "cli/reproduce/findings.hpp"
#include "lockstep/lab/report/document.hpp"

namespace lockstep::cli {

report::Checklist rules_kept(const Findings& findings);

}  // namespace lockstep::cli
