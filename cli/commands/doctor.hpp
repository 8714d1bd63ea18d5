#pragma once
// lockstep doctor: what this machine has, what would spoil a measurement on it, and how to mend it.

#include "cli/command_line/options.hpp"

namespace lockstep::cli {

RunCommand doctor_command(Options& options);

}  // namespace lockstep::cli
