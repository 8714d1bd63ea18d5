#pragma once
// What was simulated, as a report: every title says that it was; and as lines of results.jsonl (docs/results.md), from
// which the report is made again.

#include <span>
#include <string>
#include <vector>

#include "cli/simulate/study.hpp"
#include "lockstep/lab/report/document.hpp"
#include "lockstep/lab/results.hpp"

namespace lockstep::cli {

struct StudyNames {
  std::string config{};   // as it was given
  std::string network{};  // "fat-tree"
  std::string command{};  // to repeat it
};

report::Document study_document(const Study& study, const std::vector<StudyPoint>& points, const StudyNames& names);

Result study_result(const Study& study, const StudyPoint& point, const StudyNames& names, const ResultOrigin& origin);

/// Error(data) where a line lacks what simulate writes.
report::Document simulation_document(std::span<const Result> results);

}  // namespace lockstep::cli
