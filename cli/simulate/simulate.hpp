#pragma once
// lockstep simulate CONFIG: the trainer's steps on clusters that do not exist. Everything it prints is simulated, and
// says so.

#include <string>
#include <vector>

#include "cli/command_line/options.hpp"

namespace lockstep::cli {

struct SimulateArguments {
  std::string config{};
  std::vector<std::string> set{};
  std::string nodes{};  // empty: 1,2,4,...,64, or 2,4 to validate
  std::string network = "fat-tree";
  std::string bandwidth{}, latency{};   // of every link; empty: 100Gbit/s, 1us, to validate: measured
  std::vector<std::string> scaling{};   // strong, weak; empty: both
  std::vector<std::string> series{};    // tree, gather, mpi, tensor, pipeline; empty: all
  int parts = 4;                        // the most ranks that share one network
  double timeout = 120;                 // of each simulation, in seconds
  std::string rates{};                  // a file: read where it exists, else written
  std::string out{};                    // the folder; empty: runs/simulate-<n>
  bool overwrite = false, csv = false;  // as of ladder
  bool validate = false;                // compare with real ranks instead
  std::string hosts{}, agent{};         // of the real ranks, as in launch

  // For the ranks that --validate starts.
  std::string plan{}, result{};
};

RunCommand simulate_command(Options& options);

}  // namespace lockstep::cli
