#pragma once
// lockstep predict MODEL FILE... or --data SOURCE --rows 0,5,7-9: the most likely classes with their probabilities, or
// the outputs of a model of plain numbers.

#include "cli/command_line/options.hpp"

namespace lockstep::cli {

RunCommand predict_command(Options& options);

}  // namespace lockstep::cli
