#pragma once
// lockstep report DIR|FILE: the report of a training run or of measurements, made again from what they wrote.

#include <string>

#include "cli/output/console.hpp"

namespace lockstep::cli {

struct ReportArguments {
  std::string path;   // a run directory, a folder with results.jsonl, or such a file
  std::string out{};  // where the files go; empty: beside what they are made from
  bool csv = false, extra_p = false;
};

/// Writes report.html (and, of measurements, report.json; --csv and --extra-p add theirs), and prints the same as text.
/// Measures nothing. Error(usage) for a folder without anything to report on, Error(data) for what cannot be read.
void run_report(const ReportArguments& arguments, Console& console);

}  // namespace lockstep::cli
