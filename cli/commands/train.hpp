#pragma once
// lockstep train CONFIG.toml: trains the network of the configuration and writes the run directory. A signal (SIGINT,
// SIGTERM) ends the run after the present step: it is saved and Error(preempted) says how to continue.

#include "cli/command_line/options.hpp"

namespace lockstep::cli {

RunCommand train_command(Options& options);

}  // namespace lockstep::cli
