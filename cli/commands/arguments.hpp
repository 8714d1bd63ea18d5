#pragma once
// The command line: what may stand on it, and which command it asks for.

#include <functional>
#include <string>

#include "cli/output/console.hpp"

namespace lockstep::cli {

struct Request {
  ConsoleOptions console{};
  /// What to do; empty: `text` is the answer (--help, --version).
  std::function<void(Console&)> run{};
  std::string text{};
};

/// Error(usage) for a command line that makes no sense; unknown commands and options are answered with the nearest one.
Request parse_arguments(int argc, const char* const* argv);

}  // namespace lockstep::cli
