#pragma once
// The report of a homework from its work logs: what each part was, how it became right, how fast it is, and the
// student's own words.

#include <filesystem>
#include <vector>

#include "lockstep/lab/report/document.hpp"

namespace lockstep::cli {

/// `folders`: of exercises (with worklog.jsonl), or of training runs (with metrics.jsonl), in the order of the report.
/// A file report.md in a folder has the student's explanations: paragraphs with an empty line between them.
/// Error(usage) for a folder that is neither, or was never checked.
report::Document homework_report(const std::vector<std::filesystem::path>& folders);

}  // namespace lockstep::cli
