#pragma once
// What was simulated as lines of results.jsonl (docs/results.md), and back: the report is made again from them.

#include <span>
#include <vector>

#include "cli/simulate/document.hpp"
#include "lockstep/lab/results.hpp"

namespace lockstep::cli {

Result study_result(const Study& study, const StudyPoint& point, const StudyNames& names, const ResultOrigin& origin);

/// Error(data) where a line lacks what simulate writes.
report::Document simulation_document(std::span<const Result> results);

}  // namespace lockstep::cli
