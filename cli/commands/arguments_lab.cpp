#include "cli/commands/arguments_lab.hpp"

#include <CLI/CLI.hpp>

#include "cli/commands/doctor.hpp"
#include "cli/output/number_range.hpp"

namespace lockstep::cli {

namespace {

CLI::App* add_command(CLI::App& app, ConsoleOptions& console, const char* name, const char* what,
                      const char* examples) {
  CLI::App* command = app.add_subcommand(name, what);
  command->footer(examples);
  command->add_flag("--json", console.json, "Print the result as JSON on stdout, and nothing else there");
  command->add_flag("-q,--quiet", console.quiet, "No progress and no notes on stderr; errors only");
  return command;
}

void add_ladder(CLI::App& app, ConsoleOptions& console, LadderArguments& ladder) {
  CLI::App* command =
      add_command(app, console, "ladder", "Measure a training on every rung of this machine", R"(Examples:
  lockstep ladder examples/lenet5-fashion.toml
  lockstep ladder my.toml --rungs naive,simd,threads --budget 60
  lockstep ladder my.toml --set train.batch=256 --out runs/wide --csv

Rungs: naive-o0, naive, library, simd, threads-N, ranks-N, hybrid-RxT, opencl, cuda, torch-eager, torch-compile, jax,
weak-N, as far as this machine has them. The folder gets results.jsonl (every sample), report.html and report.json.
Ctrl-C ends the measuring and keeps what was measured.)");
  command->add_option("config", ladder.config, "The configuration")->option_text("CONFIG.toml")->required();
  command->add_option("--set", ladder.set, "Change a value of the configuration; may be repeated")
      ->option_text("SECTION.KEY=VALUE")
      ->allow_extra_args(false);
  command->add_option("--rungs", ladder.rungs, "Only these: names, or beginnings of names; default: all")
      ->option_text("LIST")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_option("--budget", ladder.budget, "Seconds for the samples of all rungs together; default: 120")
      ->option_text("SECONDS")
      ->check(number_between(0.1, 1e6));
  command->add_option("--samples", ladder.samples, "Samples of a rung at most; default: 15")
      ->option_text("N")
      ->check(CLI::Range(1, 1000));
  command
      ->add_option("--share", ladder.share,
                   "A rung is settled when half its 95 % interval is within this share of its median; default: 0.05")
      ->option_text("SHARE")
      ->check(number_between(0.001, 1));
  command->add_option("-o,--out", ladder.out, "The folder for results and report; default: runs/ladder-<n>")
      ->option_text("DIR");
  command->add_flag("--overwrite", ladder.overwrite, "Replace an earlier measurement in --out");
  command->add_flag("--verbose", ladder.verbose,
                    "Also print what the report has: scaling, laws, what limits each rung and what each part gains");
  command->add_flag("--csv", ladder.csv, "Also write every table as CSV, and as the lines that Extra-P reads");
}

}  // namespace

void LabCommands::add(CLI::App& app, ConsoleOptions& console) {
  add_ladder(app, console, ladder);
  add_command(app, console, "doctor", "What this machine has, and what would spoil a measurement on it", "");
}

bool LabCommands::has(const std::string& command) const { return command == "ladder" || command == "doctor"; }

void LabCommands::run(const std::string& command, Console& console) const {
  if (command == "ladder") run_ladder(ladder, console);
  if (command == "doctor") run_doctor(console);
}

}  // namespace lockstep::cli
