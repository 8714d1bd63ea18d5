#pragma once
// lockstep ladder CONFIG.toml: one network on every rung of this machine, measured in turns; results.jsonl and a
// report.

#include <string>
#include <vector>

#include "cli/command_line/options.hpp"

namespace lockstep::cli {

struct LadderArguments {
  std::string config{};
  std::vector<std::string> set{};
  std::vector<std::string> rungs{};  // empty: all
  double budget = 120;               // seconds for the samples; what comes before and after is not part of it
  int samples = 15;                  // of a rung at most
  double share = 0.05;               // half the interval, of the median, at which a rung is settled
  std::string out{};                 // empty: runs/ladder-<n>
  bool overwrite = false;
  bool csv = false;
  bool verbose = false;   // scaling, laws, sections and limits on the terminal too
  std::string command{};  // as it was typed
};

RunCommand ladder_command(Options& options);

}  // namespace lockstep::cli
