#pragma once
// lockstep report DIR|FILE: the report of a training run or of measurements, made again from their files: report.html
// (and, of measurements, report.json; --csv and --extra-p add theirs), and the same printed as text. Measures nothing.
// Error(usage) for a folder without anything to report on, Error(data) for what cannot be read.

#include "cli/command_line/options.hpp"

namespace lockstep::cli {

RunCommand report_command(Options& options);

}  // namespace lockstep::cli
