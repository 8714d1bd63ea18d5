#pragma once
// The command line: which command it asks for, with which options.

#include <span>
#include <string>

#include "cli/command_line/options.hpp"

namespace lockstep::cli {

/// A command of the program.
struct Command {
  const char* name;
  const char* help;  // one line
  /// Declares the options; the function it returns runs the command with their values.
  RunCommand (*declare)(Options& options);
  bool has_json = true;  // false: the command prints no result of its own
  const char* quiet = "No progress and no notes on stderr; errors only";  // the help of --quiet
};

struct Request {
  ConsoleOptions console{};
  /// The command to run; empty: `text` is the answer (--help, --version).
  RunCommand run{};
  std::string text{};
};

/// What --help and --version of the program say.
struct ProgramText {
  const char* description;
  const char* footer;
  std::string version;
};

/// Error(usage) for a wrong command line; the message for an unknown command or option names the nearest one.
Request parse_command_line(int argc, const char* const* argv, std::span<const Command> commands,
                           const ProgramText& program);

}  // namespace lockstep::cli
