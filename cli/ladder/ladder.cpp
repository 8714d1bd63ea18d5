#include "cli/ladder/ladder.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/ladder/analysis.hpp"
#include "cli/ladder/measurement.hpp"
#include "cli/ladder/report.hpp"
#include "cli/output/results_folder.hpp"
#include "cli/process/stop_signal.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/lab/report/write.hpp"
#include "lockstep/parallel/team.hpp"
#include "lockstep/run/build_commit.hpp"

namespace lockstep::cli {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kSentences = 3;

/// For --verbose: scaling, laws, what each section gains, what limits each rung.
void add_details(const LadderLines& ladder, report::Section& section) {
  for (report::Table& table : std::vector{scaling_table(ladder), pop_table(ladder)})
    if (!table.rows.empty()) section.add(std::move(table));
  for (const FitRecord& fit : ladder.fits)
    if (!fit.text.empty()) section.add(report::Paragraph{fit.text});
  if (report::List gains{.items = section_sentences(ladder)}; !gains.items.empty())
    section.add(report::Paragraph{"What each kind of parallelism brings:"}).add(std::move(gains));
  report::List limits;
  for (const RungLine& each : ladder.rungs)
    if (!each.verdict.empty()) limits.items.push_back(fmt::format("{}: {}", each.title, each.verdict));
  section.add(report::Paragraph{"What limits each rung:"}).add(std::move(limits));
  report::Table speed =
      columns_of(ladder_table(ladder), {"rung", "measured_samples", "gflops", "peak_share", "accuracy", "explained"});
  speed.title = "Speed and accuracy";
  section.add(std::move(speed));
}

/// One table, and what it means in three sentences.
std::string terminal_text(const LadderLines& ladder, bool verbose) {
  report::Document words;
  report::Section& section = words.section("");
  if (verbose) add_details(ladder, section);
  section.add(short_ladder_table(ladder));
  std::vector<std::string> sentences = ladder_summary(ladder);
  sentences.resize(std::min(sentences.size(), kSentences));
  section.add(report::Paragraph{fmt::format("{}", fmt::join(sentences, " "))});
  return report::to_text(words);
}

void run_ladder(const LadderArguments& arguments, Console& console) {
  // A wrong configuration or rung is refused before a folder is made.
  static_cast<void>(make_network(load_config(arguments.config, arguments.set)));
  static_cast<void>(chosen_rungs(all_rungs(available_cpus(), backend_names()), arguments.rungs));
  const fs::path folder = prepare_results_folder(arguments.out, "ladder", arguments.overwrite);
  const std::vector<Finding> findings = examine(look_at_machine(), {.threads = available_cpus(), .uses_library = true});
  for (const std::string& warning : warning_lines(findings)) console.note("doctor: " + warning);
  ResultOrigin origin = measured_here();
  origin.commit = build_commit();
  origin.command = arguments.command;
  catch_stop_signals();
  const auto results_of = [&](const LadderMeasurement& ladder, const std::string& unfinished) {
    std::vector<Result> results = ladder_results(ladder, arguments, origin, findings);
    if (!unfinished.empty())
      for (Result& each : results) each.warnings.push_back(unfinished + ": fewer samples than wanted");
    return results;
  };
  const std::string stopped = "stopped by a signal";
  const LadderMeasurement ladder = measure_rungs(
      arguments, console, stop_requested,
      [&](const LadderMeasurement& so_far) { write_results(folder, results_of(so_far, "killed before its end")); });
  if (ladder.rungs.empty()) throw Error(ErrorCode::preempted, stopped + " before anything was measured");
  const std::vector<Result> results = results_of(ladder, ladder.stopped ? stopped : "");
  write_results(folder, results);
  const auto files =
      report::write_report(ladder_document(results), folder, {.csv = arguments.csv, .extra_p = arguments.csv});
  if (console.json()) {
    for (const Result& each : results) console.print(to_json_line(each) + "\n");
  } else {
    console.print(terminal_text(ladder_lines(results), arguments.verbose));
    console.print(fmt::format("\nreport   {}\n", one_line(files.front().string())));
  }
  if (ladder.stopped)
    throw Error(ErrorCode::preempted,
                fmt::format("{}; what was measured until then is in {}", stopped, folder.string()));
}

}  // namespace

RunCommand ladder_command(Options& options) {
  const auto arguments = std::make_shared<LadderArguments>();
  arguments->command = options.typed();
  options.examples(R"(Examples:
  lockstep ladder examples/lenet5-fashion.toml
  lockstep ladder my.toml --rungs naive,simd,threads --budget 60
  lockstep ladder my.toml --set train.batch=256 --out runs/wide --csv

Rungs: naive-o0, naive, library, simd, threads-N, ranks-N, hybrid-RxT, opencl, cuda, torch-eager, torch-compile, jax,
weak-N, as far as this machine has them. The folder gets results.jsonl (every sample), report.html and report.json.
Ctrl-C ends the measuring and keeps what was measured.)");
  options.argument("config", arguments->config, {"CONFIG.toml", "The configuration"});
  options.set(arguments->set);
  options.list("--rungs", arguments->rungs, {"LIST", "Only these: names, or beginnings of names; default: all"});
  options.number("--budget", arguments->budget, 0.1, 1e6,
                 {"SECONDS", "Seconds for the samples of all rungs together; default: 120"});
  options.integer("--samples", arguments->samples, 1, 1000, {"N", "Samples of a rung at most; default: 15"});
  options.number(
      "--share", arguments->share, 0.001, 1,
      {"SHARE", "A rung is settled when half its 95 % interval is within this share of its median; default: 0.05"});
  options.text("-o,--out", arguments->out, {"DIR", "The folder for results and report; default: runs/ladder-<n>"});
  options.flag("--overwrite", arguments->overwrite, "Replace an earlier measurement in --out");
  options.flag("--verbose", arguments->verbose,
               "Also print what the report has: scaling, laws, what limits each rung and what each part gains");
  options.flag("--csv", arguments->csv, "Also write every table as CSV, and as the lines that Extra-P reads");
  return [arguments](Console& console) { run_ladder(*arguments, console); };
}

}  // namespace lockstep::cli
