#pragma once
// lockstep reproduce [NAME]: a published experiment, end to end, its table and figures beside ours.

#include <span>
#include <string>

#include "cli/command_line/options.hpp"
#include "lockstep/lab/report/document.hpp"
#include "lockstep/lab/results.hpp"

namespace lockstep::cli {

struct ReproduceArguments {
  std::string name{};  // empty: list the experiments
  std::string out{};   // the run directory; empty: runs/<name>-<n>
  std::string data{};  // a file for an experiment that needs one
  std::string from{};  // a run directory: its report is made again from its results, nothing is measured
  int rank_runs = 0;   // not 0: this process is a rank that conv-multicore has started
  bool quick = false, overwrite = false;
};

RunCommand reproduce_command(Options& options);

/// The report of an experiment, from its results (lockstep report).
report::Document experiment_document(std::span<const Result> results);

}  // namespace lockstep::cli
