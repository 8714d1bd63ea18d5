#pragma once
// lockstep train CONFIG.toml

#include <string>

#include "cli/output/console.hpp"
#include "lockstep/run/train_run.hpp"

namespace lockstep::cli {

struct TrainArguments {
  std::string config;
  RunOptions options{};
};

/// Trains the network of the configuration and writes the run directory. A signal (SIGINT, SIGTERM) ends the run after
/// the present step: it is saved and Error(preempted) says how to continue.
void run_train(TrainArguments arguments, Console& console);

}  // namespace lockstep::cli
