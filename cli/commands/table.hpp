#pragma once
// The commands of the program. To add a command: a file pair that declares its options and runs it, and a line here.

#include "cli/command_line/parse.hpp"

namespace lockstep::cli {

/// The command that the command line asks for; errors as parse_command_line.
Request parse_arguments(int argc, const char* const* argv);

}  // namespace lockstep::cli
