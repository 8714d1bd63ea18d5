#pragma once
// lockstep train CONFIG.toml

#include <string>
#include <vector>

#include "cli/output/console.hpp"
#include "lockstep/kernels/backend.hpp"

namespace lockstep::cli {

struct TrainArguments {
  std::string config;
  std::vector<std::string> set{};  // section.key=value
  Backend backend = Backend::simd;
  int threads = 0;    // 0: the trainer's choice
  std::string out{};  // empty: runs/<config>-<n>
  bool overwrite = false;
  bool resume = false;    // go on with the run in `out`
  bool profile = false;   // tell where the time went
  bool verbose = false;   // tell which kernels and processors are used
  std::string command{};  // as it was typed
};

/// Trains the network of the configuration and writes the run directory. A signal (SIGINT, SIGTERM) ends it after the
/// step at hand: the run is saved and Error(preempted) says how to go on.
void run_train(const TrainArguments& arguments, Console& console);

}  // namespace lockstep::cli
