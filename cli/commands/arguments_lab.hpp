#pragma once
// The commands of the lab on the command line: ladder, doctor. A command more: its arguments, a line in add()
// and a line in run().

#include <string>

#include "cli/ladder/ladder.hpp"
#include "cli/output/console.hpp"

namespace CLI {
class App;
}

namespace lockstep::cli {

struct LabCommands {
  LadderArguments ladder{};

  /// Declares the commands; `console` and this object receive what is parsed.
  void add(CLI::App& app, ConsoleOptions& console);
  bool has(const std::string& command) const;
  void run(const std::string& command, Console& console) const;
};

}  // namespace lockstep::cli
