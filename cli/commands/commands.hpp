#pragma once
// The commands of the program. To add one: a file that declares its options and runs it, its name here, and its line in
// the table (table.cpp).

#include "cli/command_line/parse.hpp"

namespace lockstep::cli {

RunCommand train_command(Options& options);
RunCommand eval_command(Options& options);
RunCommand predict_command(Options& options);
RunCommand generate_command(Options& options);
RunCommand inspect_command(Options& options);
RunCommand export_command(Options& options);
RunCommand launch_command(Options& options);
RunCommand report_command(Options& options);
RunCommand compare_command(Options& options);
RunCommand diff_command(Options& options);
RunCommand verify_command(Options& options);
RunCommand sweep_command(Options& options);
RunCommand doctor_command(Options& options);
// bench, check, exercise, ladder, reproduce and simulate: in their folders.

/// The command that the command line asks for; errors as parse_command_line.
Request parse_arguments(int argc, const char* const* argv);

}  // namespace lockstep::cli
