#include "cli/command_line/parse.hpp"

#include <algorithm>
#include <deque>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "lockstep/config/suggest.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/shell_words.hpp"
#include "lockstep/core/words.hpp"

namespace lockstep::cli {

namespace {

/// The first argument is the command unless it is an option.
void check_command(std::span<const Command> commands, int argc, const char* const* argv) {
  std::vector<std::string> names;
  for (const Command& command : commands) names.emplace_back(command.name);
  if (argc < 2)
    throw Error(ErrorCode::usage,
                fmt::format("a command is missing: {}; lockstep --help shows examples", fmt::join(names, ", ")));
  const std::string first = argv[1];
  if (first == "-h" || first == "--help" || first == "--version") return;
  if (first.starts_with("-"))
    throw Error(ErrorCode::usage,
                fmt::format("unknown option {}; options stand after a command: lockstep train ...", first));
  if (std::find(names.begin(), names.end(), first) != names.end()) return;
  throw Error(ErrorCode::usage,
              fmt::format("unknown command {}{}; lockstep --help shows examples", first, suggestion(first, names)));
}

/// CLI11 names what it did not expect; users also want to know which option comes near.
[[noreturn]] void fail_extra(const CLI::App& command) {
  const std::vector<std::string> extras = command.remaining(true);
  const std::string extra = extras.empty() ? "" : extras.front();
  const std::string help = fmt::format("; see lockstep {} --help", command.get_name());
  if (!extra.starts_with("-")) throw Error(ErrorCode::usage, fmt::format("unexpected argument {}{}", extra, help));
  std::vector<std::string> known;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  const auto near = nearest(extra.substr(0, extra.find('=')), known);
  throw Error(ErrorCode::usage, fmt::format("unknown option {}{}{}", extra,
                                            near ? fmt::format("; did you mean {}?", *near) : "", near ? "" : help));
}

/// A command on the command line, before it is known whether it is the one.
struct Declared {
  CLI::App* app;
  Options options;
  RunCommand run{};
};

}  // namespace

Request parse_command_line(int argc, const char* const* argv, std::span<const Command> commands,
                           const ProgramText& program) {
  check_command(commands, argc, argv);
  const std::string typed = "lockstep " + shell_words(std::vector<std::string>(argv + 1, argv + argc));
  CLI::App app(program.description, "lockstep");
  app.footer(program.footer);
  app.set_version_flag("--version", program.version);
  app.require_subcommand(1);
  Request request;
  std::deque<Declared> declared;  // its elements stay where they are
  for (const Command& command : commands) {
    CLI::App* const own = app.add_subcommand(command.name, command.help);
    own->footer("");  // not that of the program
    Declared& one = declared.emplace_back(Declared{own, Options(*own, typed)});
    if (command.has_json)
      one.options.flag("--json", request.console.json, "Print the result as JSON on stdout, and nothing else there");
    one.options.flag("-q,--quiet", request.console.quiet, command.quiet);
    one.run = command.declare(one.options);
  }
  const auto chosen = [&]() -> const CLI::App& {
    return app.get_subcommands().empty() ? app : *app.get_subcommands().front();
  };
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForVersion& version_text) {
    return {.text = fmt::format("{}\n", version_text.what())};
  } catch (const CLI::CallForHelp&) {
    return {.text = chosen().help()};
  } catch (const CLI::ExtrasError&) {
    fail_extra(chosen());
  } catch (const CLI::ParseError& error) {
    throw Error(ErrorCode::usage,
                fmt::format("{}; see lockstep {} --help", one_line(error.what()), chosen().get_name()));
  }
  for (const Declared& one : declared)
    if (one.app == &chosen()) {
      one.options.finish();
      request.run = one.run;
    }
  return request;
}

}  // namespace lockstep::cli
