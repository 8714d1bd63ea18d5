#pragma once
// lockstep exercise: lists the exercises and makes their folders. lockstep check: is a solution right, why not, how
// fast.

#include "cli/command_line/options.hpp"

namespace lockstep::cli {

RunCommand exercise_command(Options& options);
RunCommand check_kernel_command(Options& options);

}  // namespace lockstep::cli
