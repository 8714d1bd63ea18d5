#include "cli/reproduce/reproduce.hpp"

#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/output/json.hpp"
#include "cli/reproduce/conv_multicore/experiment.hpp"
#include "cli/reproduce/experiment.hpp"
#include "lockstep/config/suggest.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/file.hpp"
#include "lockstep/core/shell_words.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/lab/doctor.hpp"
#include "lockstep/lab/measure.hpp"
#include "lockstep/lab/report/results_page.hpp"
#include "lockstep/lab/report/write.hpp"
#include "lockstep/lab/text_table.hpp"
#include "lockstep/parallel/team.hpp"
#include "lockstep/run/build_commit.hpp"
#include "lockstep/run/directory.hpp"

namespace lockstep::cli {

namespace {

using report::Rule;

/// What a count of exceptions says of a rule.
Rule rule_with(std::string rule, int exceptions, int all, const char* otherwise, const std::string& kept) {
  if (exceptions == 0) return {Rule::State::kept, std::move(rule), kept};
  return {exceptions < all ? Rule::State::partly : Rule::State::broken, std::move(rule),
          fmt::format("{} of {} {}", exceptions, all, otherwise)};
}

/// The rules of measuring (Hoefler and Belli, 2015), and which of them an experiment kept: from its results.
report::Checklist rules_kept(const Findings& findings) {
  int timed = 0, few = 0, unsettled = 0, warned = 0;
  for (const Result& each : findings.all()) {
    if (each.kind != "measurement" || each.samples.empty()) continue;
    ++timed;
    few += each.summary()->interval ? 0 : 1;
    unsettled += std::any_of(each.warnings.begin(), each.warnings.end(),
                             [](const std::string& warning) { return warning.starts_with("not settled"); })
                     ? 1
                     : 0;
    warned += std::any_of(each.warnings.begin(), each.warnings.end(),
                          [](const std::string& warning) { return !warning.starts_with("not settled"); })
                  ? 1
                  : 0;
  }
  report::Checklist list{.title = "Rules of measuring (Hoefler and Belli, 2015), kept and not kept"};
  list.rules = {
      rule_with("Medians with non-parametric 95 % intervals, no bare means", few, timed,
                "have fewer than 6 samples: no 95 % interval is shown for them",
                "order statistics; averages stand only beside published averages"),
      rule_with("Repeated until the interval is within the stated share of the median", unsettled, timed,
                "ran into their budget or their most samples first", "or as many runs as were published"),
      {Rule::State::kept, "Variants interleaved",
       "in turns, series by series; what starts anew for every sample (ranks, trainings of their own) in rounds"},
      {Rule::State::kept, "Warm-up not counted", "one run of every variant"},
      {Rule::State::kept, "Every sample kept", "results.jsonl"},
      {Rule::State::kept, "Every speed-up names its baseline", "the row marked so, or the head of the column"},
      {Rule::State::kept, "The slowest rank counts", ""},
      rule_with("A quiet machine", warned, timed, "were taken under a warning of lockstep doctor",
                "lockstep doctor had no warning"),
      {Rule::State::not_applicable, "Not measured",
       "what is marked published; energy; start-up and reading of data; other machines"}};
  return list;
}

namespace fs = std::filesystem;

constexpr const char *kRun = "run", *kDone = "done";  // RunRecord, DoneRecord

std::string dump(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

void list_experiments(Console& console) {
  if (console.json()) {
    Json all = Json::array();
    for (const Experiment& one : experiments())
      all.push_back({{"name", one.name}, {"title", one.title}, {"paper", one.paper}, {"time", one.time}});
    console.print(dump(all));
    return;
  }
  std::string text;
  for (const Experiment& one : experiments())
    text += fmt::format("{}\n    {}\n    {}\n    {}\n\n", one.name, one.title, one.paper, one.time);
  console.print(text + "lockstep reproduce NAME runs one of them; --quick for a first impression.\n");
}

const Experiment& experiment_named(const std::string& name) {
  std::vector<std::string> names;
  for (const Experiment& one : experiments()) {
    if (one.name == name) return one;
    names.push_back(one.name);
  }
  throw Error(ErrorCode::usage, fmt::format("reproduce {}: no such experiment{}; lockstep reproduce lists them",
                                            one_line(name), suggestion(name, names)));
}

/// The command line of the run.
std::string command_of(const ReproduceArguments& arguments) {
  return fmt::format("lockstep reproduce {}{}{}", arguments.name, arguments.quick ? " --quick" : "",
                     arguments.data.empty() ? "" : " --data " + shell_word(arguments.data));
}

/// What every report ends with.
void add_common_sections(const Experiment& experiment, const Findings& findings, report::Document& document) {
  report::List left;
  for (const auto& each : findings.series<LeftOutPart>(ExperimentRun::kLeftOut))
    left.items.push_back(fmt::format("{}: {}", short_name(each), each.why));
  if (!left.items.empty()) document.section("Left out on this machine").add(std::move(left));
  const Result& run = findings.get(kRun);
  const MachineDescription& machine = run.origin.machine;
  report::Facts facts{.title = "Where it was measured"};
  facts.facts = {{"processor", machine.processor},
                 {"processors", fmt::format("{} ({})", machine.processors, count_of(machine.cores, "core"))},
                 {"load before", fmt::format("{:.2f}", machine.load)},
                 {"when", run.origin.time},
                 {"source", run.origin.commit}};
  for (const auto& [name, version] : run.origin.versions) facts.facts.push_back({name, version});
  document.section("Machine and method")
      .add(report::Paragraph{
          "Variants that are compared were sampled in turns, each after a run to warm up; times are medians with the "
          "95 % interval of the median from order statistics, and every sample stands in `results.jsonl`. What was "
          "published is marked so; nothing of it was measured here."})
      .add(std::move(facts))
      .add(rules_kept(findings))
      .add(report::Code{.text = run.origin.command, .title = "To repeat it"})
      .add(report::Code{.text = experiment.config, .title = "The set-up"});
}

void fold_long_tables(report::Document& document) {
  constexpr std::size_t kLongest = 14;  // rows that stand open
  for (report::Section& section : document.sections)
    for (report::Block& block : section.blocks)
      if (auto* const table = std::get_if<report::Table>(&block); table != nullptr && table->rows.size() > kLongest)
        table->folded = true;
}

report::Document document_of(const Experiment& experiment, const Findings& findings) {
  report::Document document{.title = experiment.name,
                            .subtitle = fmt::format("{}. {}", experiment.title, experiment.paper)};
  add_claims(experiment.claims, findings, document);
  // Before the numbers of the verdict are read.
  std::vector<report::Block>& first = document.sections.front().blocks;
  std::vector<report::Block> warnings;
  if (findings.find(kDone) == nullptr)
    warnings.emplace_back(report::Notice{.text = "This run was stopped before its end: what it had measured is here, "
                                                 "the rest is missing."});
  for (const std::string& warning : findings.get(kRun).warnings)
    warnings.emplace_back(report::Notice{.text = "Taken under a warning: " + warning});
  first.insert(first.begin() + 1, warnings.begin(), warnings.end());
  experiment.describe(findings, document);
  fold_long_tables(document);
  add_common_sections(experiment, findings, document);
  document.footer = fmt::format("Made by lockstep reproduce {} from results.jsonl.", experiment.name);
  return document;
}

Json claims_json(const Experiment& experiment, const Findings& findings) {
  Json claims = Json::array();
  for (const Claim& claim : experiment.claims) {
    const Judgement judgement = claim.judge(findings);
    claims.push_back({{"id", claim.id},
                      {"claim", claim.text},
                      {"by", claim.label.empty() ? "lockstep" : "paper"},
                      {"verdict", judgement.word()},
                      {"published", judgement.published.empty() ? claim.published : judgement.published},
                      {"here", judgement.here},
                      {"facts", judgement.facts}});
  }
  return claims;
}

/// Writes the report beside the results and prints it.
void show(const Experiment& experiment, const fs::path& folder, Console& console) {
  const Findings findings(read_results(folder / kResultsFile));
  const report::Document document = document_of(experiment, findings);
  const std::vector<fs::path> files = write_report(document, folder, {.json = false});
  if (console.json()) {
    Json results = Json::array();
    for (const Result& each : findings.all()) results.push_back(Json::parse(to_json_line(each)));
    console.print(dump({{"experiment", experiment.name},
                        {"directory", folder.string()},
                        {"claims", claims_json(experiment, findings)},
                        {"report", Json::parse(report::tables_json(document))},
                        {"results", results}}));
    return;
  }
  console.print(report::to_text(document));
  console.print(fmt::format("\n{}\n", files.front().string()));
}

void measure(const Experiment& experiment, const ReproduceArguments& arguments, const fs::path& folder,
             Console& console) {
  ResultOrigin origin = measured_here();
  origin.commit = build_commit();
  origin.command = command_of(arguments);
  const std::vector<std::string> warnings = warning_lines(examine(look_at_machine(), {.threads = available_cpus()}));
  for (const std::string& warning : warnings) console.note("doctor: " + warning);
  const ExperimentRun run{.quick = arguments.quick,
                          .data = arguments.data,
                          .folder = folder,
                          .console = console,
                          .keep = [&](Result result) {
                            result.origin = origin;
                            result.warnings.insert(result.warnings.begin(), warnings.begin(), warnings.end());
                            append_result(folder / kResultsFile, result);
                          }};
  console.note(fmt::format("{}: {}", experiment.name, experiment.time));
  run.record(kRun, RunRecord{arguments.quick, experiment.name});
  const double seconds = timed_seconds([&] { experiment.measure(run); });
  run.record(kDone, DoneRecord{seconds});
  console.note(fmt::format("done in {}", duration(seconds)));
}

/// The experiment whose results a folder holds.
const Experiment& experiment_of(const std::string& folder) {
  const Findings findings(read_results(fs::path(folder) / kResultsFile));
  if (const auto run = findings.find_line<RunRecord>(kRun)) return experiment_named(run->experiment);
  throw Error(ErrorCode::data, fmt::format("--from {}: its results.jsonl is not of lockstep reproduce", folder));
}

void run_reproduce(const ReproduceArguments& arguments, Console& console) {
  if (arguments.rank_runs > 0) return run_conv_rank(arguments.rank_runs, arguments.data, console);
  if (!arguments.from.empty()) {
    if (!arguments.name.empty() || !arguments.out.empty())
      throw Error(ErrorCode::usage, "--from DIR makes the report of DIR again; NAME and --out do not go with it");
    return show(experiment_of(arguments.from), arguments.from, console);
  }
  if (arguments.name.empty()) return list_experiments(console);
  const Experiment& experiment = experiment_named(arguments.name);
  if (!arguments.data.empty() && experiment.data.empty())
    throw Error(ErrorCode::usage,
                fmt::format("reproduce {}: --data {}: this experiment makes its own data and reads no file; "
                            "leave --data out",
                            experiment.name, one_line(arguments.data)));
  if (!arguments.data.empty() && !fs::exists(arguments.data))  // before a folder is made for it
    throw Error(ErrorCode::data, fmt::format("--data {}: there is no such file or folder", arguments.data));
  const RunDirectory directory(
      {.path = arguments.out, .name = experiment.name, .overwrite = arguments.overwrite, .resumable = false});
  directory.clear();
  write_file_atomically(directory.file(kConfigFile), experiment.config);
  measure(experiment, arguments, directory.path(), console);
  show(experiment, directory.path(), console);
}

}  // namespace

report::Document experiment_document(std::span<const Result> results) {
  const Findings findings(std::vector<Result>(results.begin(), results.end()));
  const auto run = findings.find_line<RunRecord>(kRun);
  return run ? document_of(experiment_named(run->experiment), findings) : report::results_document(results);
}

RunCommand reproduce_command(Options& options) {
  const auto arguments = std::make_shared<ReproduceArguments>();
  options.examples(R"(Examples:
  lockstep reproduce                        the experiments, what they show and how long they take
  lockstep reproduce cuda-quadrants --quick
  lockstep reproduce mpi-digits --data ex4data1.mat --out runs/digits
  lockstep reproduce --from runs/digits     the report again, from its results

The run directory holds config.toml (the set-up), results.jsonl (every measurement) and report.html.)");
  options.optional_argument("name", arguments->name, {"NAME", "The experiment; default: list them"});
  options.flag("--quick", arguments->quick, "About a minute: fewer repetitions and wider intervals");
  options.text("--data", arguments->data, {"FILE", "A data file of the experiment, where it needs one"});
  options.text("-o,--out", arguments->out, {"DIR", "The run directory; default: runs/<name>-<n>"});
  options.text("--from", arguments->from, {"DIR", "Make the report of this run again; nothing is measured"});
  options.hidden("--rank-runs", arguments->rank_runs, 1, 1000);  // run_conv_rank
  options.flag("--overwrite", arguments->overwrite, "Replace an earlier run in --out");
  return [arguments](Console& console) { run_reproduce(*arguments, console); };
}

}  // namespace lockstep::cli
