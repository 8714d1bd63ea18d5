#pragma once
// What was simulated, as a report: every title says that it was.

#include "cli/simulate/study.hpp"
#include "lockstep/lab/report/document.hpp"

namespace lockstep::cli {

struct StudyNames {
  std::string config{};   // as it was given
  std::string network{};  // "fat-tree"
  std::string command{};  // to repeat it
};

report::Document study_document(const Study& study, const std::vector<StudyPoint>& points, const StudyNames& names);

/// "100 Gbit/s"
std::string bandwidth_text(double bytes_per_second);

}  // namespace lockstep::cli
