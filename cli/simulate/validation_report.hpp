#pragma once
// Simulated against measured, as lines of results.jsonl (docs/results.md) and as a report made from them.

#include <span>

#include "cli/simulate/document.hpp"
#include "cli/simulate/validate.hpp"
#include "lockstep/lab/results.hpp"

namespace lockstep::cli {

Result validation_result(const Study& study, const ValidationPoint& point, const StudyNames& names,
                         const ResultOrigin& origin);

/// Error(data) where a line lacks what simulate writes.
report::Document validation_document(std::span<const Result> results);

}  // namespace lockstep::cli
