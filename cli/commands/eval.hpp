#pragma once
// lockstep eval MODEL: loss, accuracy and, for up to 30 classes, the confusion matrix.

#include "cli/command_line/options.hpp"

namespace lockstep::cli {

RunCommand eval_command(Options& options);

}  // namespace lockstep::cli
