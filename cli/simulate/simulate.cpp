#include "cli/simulate/simulate.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/output/results_folder.hpp"
#include "cli/process/stop_signal.hpp"
#include "cli/simulate/document.hpp"
#include "cli/simulate/units.hpp"
#include "cli/simulate/validate.hpp"
#include "lockstep/config/suggest.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/file.hpp"
#include "lockstep/core/shell_words.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/kernels/slots.hpp"
#include "lockstep/lab/report/write.hpp"
#include "lockstep/run/build_commit.hpp"
#include "lockstep/run/directory.hpp"

namespace lockstep::cli {

namespace fs = std::filesystem;

namespace {

const std::string kBandwidth = "100Gbit/s", kLatency = "1us";

std::size_t index_of(const char* option, const std::string& name, const std::vector<std::string>& names) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end())
    throw Error(ErrorCode::usage, fmt::format("{} {}: unknown name{}; there are {}", option, name,
                                              suggestion(name, names), fmt::join(names, ", ")));
  return static_cast<std::size_t>(found - names.begin());
}

StepPlan plan_of(const RunConfig& config) {
  if (config.train.batch == 0)
    throw Error(
        ErrorCode::usage,
        fmt::format(
            "{}: train.batch = \"full\" takes all data as one batch, which a simulation does not load; give it a "
            "number: --set train.batch=1024",
            config.name));
  return {.config = resolved_toml(config),
          .batch = config.train.batch,
          .slots = config.train.slots > 0 ? config.train.slots : auto_slots(config.train.batch),
          .parallel = config.train.parallel,
          .steps = 1};
}

std::string nodes_of(const SimulateArguments& arguments) {
  if (!arguments.nodes.empty()) return arguments.nodes;
  return arguments.validate ? "2,4" : "1,2,4,...,64";
}

const std::string& or_default(const std::string& text, const std::string& other) { return text.empty() ? other : text; }

Study study_of(const SimulateArguments& arguments, const RunConfig& config) {
  Study study{.plan = plan_of(config),
              .cluster = {.topology = static_cast<Topology>(index_of("--network", arguments.network, topology_names())),
                          .bandwidth = parse_bandwidth(or_default(arguments.bandwidth, kBandwidth)),
                          .latency = parse_latency(or_default(arguments.latency, kLatency))},
              .bandwidth_given = !arguments.bandwidth.empty(),
              .latency_given = !arguments.latency.empty(),
              .nodes = parse_nodes(nodes_of(arguments), kMostNodes),
              .parts = arguments.parts,
              .timeout = arguments.timeout};
  for (const std::string& name : arguments.scaling)
    study.scalings.push_back(static_cast<ScalingKind>(
        index_of("--scaling", name, {enum_name(ScalingKind::strong), enum_name(ScalingKind::weak)})));
  if (study.scalings.empty()) study.scalings = {ScalingKind::strong, ScalingKind::weak};
  std::vector<std::string> names;
  for (const Series& series : all_series()) names.push_back(series.name);
  for (const std::string& name : arguments.series) study.series.push_back(all_series()[index_of("--way", name, names)]);
  if (study.series.empty()) study.series = all_series();
  return study;
}

StudyRates rates_for(const SimulateArguments& arguments, const Study& study, Console& console) {
  if (!arguments.rates.empty() && fs::exists(arguments.rates))
    return parse_study_rates(read_text(arguments.rates, std::int64_t{1} << 26, ErrorCode::usage));
  console.note("measuring the steps of one core");
  StudyRates rates = measure_study_rates(study);
  if (!arguments.rates.empty()) write_file_atomically(arguments.rates, study_rates_json(rates));
  return rates;
}

/// What repeats it: everything that decides the figures.
std::string command_of(const SimulateArguments& a) {
  std::string text = "lockstep simulate " + shell_word(a.config);
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) text += fmt::format(" {} {}", option, shell_word(value));
  };
  for (const std::string& each : a.set) add("--set", each);
  add("--nodes", nodes_of(a));
  if (a.validate) text += " --validate";
  if (!a.validate) add("--network", a.network);
  add("--bandwidth", a.validate ? a.bandwidth : or_default(a.bandwidth, kBandwidth));
  add("--latency", a.validate ? a.latency : or_default(a.latency, kLatency));
  for (const std::string& each : a.scaling) add("--scaling", each);
  for (const std::string& each : a.series) add("--way", each);
  if (a.parts != SimulateArguments{}.parts) add("--parts", std::to_string(a.parts));
  add("--rates", a.rates);
  add("--hosts", a.hosts);
  add("--agent", a.agent);
  return text;
}

/// The report in the folder, and what a terminal shows of it.
void publish(const report::Document& document, const fs::path& folder, const SimulateArguments& arguments,
             Console& console) {
  const auto files = report::write_report(document, folder, {.csv = arguments.csv, .extra_p = arguments.csv});
  if (console.json()) return console.print(report::tables_json(document) + "\n");
  console.print(report::to_text(document));
  console.print(fmt::format("\nreport   {}\nresults  {}\n", one_line(files.front().string()),
                            one_line((folder / kResultsFile).string())));
}

void note_idle(const Study& study, Console& console) {
  if (study.plan.slots < study.nodes.back() &&
      std::find(study.scalings.begin(), study.scalings.end(), ScalingKind::strong) != study.scalings.end())
    console.note(fmt::format(
        "a batch of {} has {} slots: in strong scaling more nodes have no samples; --set train.batch=... and "
        "train.slots=... give them some",
        study.plan.batch, study.plan.slots));
}

/// What all lines of a study have in common.
struct Common {
  const Study& study;
  StudyNames names;
  ResultOrigin origin;
};

report::Document validated(const Common& common, const Simulator& simulator, const SimulateArguments& arguments,
                           const std::function<void(const Result&)>& keep, Console& console) {
  std::vector<Result> results;
  validate(common.study, simulator, {.hosts = arguments.hosts, .agent = arguments.agent}, console,
           [&](const ValidationPoint& point) {
             results.push_back(validation_result(common.study, point, common.names, common.origin));
             keep(results.back());
           });
  return validation_document(results);
}

report::Document simulated(const Common& common, const Simulator& simulator, const SimulateArguments& arguments,
                           const std::function<void(const Result&)>& keep, Console& console) {
  note_idle(common.study, console);
  const StudyRates rates = rates_for(arguments, common.study, console);
  const auto begins = [&](const StudyPoint& point) {
    console.note(
        fmt::format("simulating {} scaling, {}, {}", enum_name(point.scaling), point.series, nodes_text(point.nodes)));
  };
  const auto ends = [&](const StudyPoint& point) {
    keep(study_result(common.study, point, common.names, common.origin));
  };
  const auto points = run_study(common.study, simulator, rates, {.begins = begins, .ends = ends});
  return study_document(common.study, points, common.names);
}

/// Of a simulation that failed before its first result.
void remove_empty(const fs::path& folder) {
  std::error_code error;
  if (fs::file_size(folder / kResultsFile, error) == 0) fs::remove(folder / kResultsFile, error);
  fs::remove(folder, error);  // nothing that has files in it
}

void run_simulate(const SimulateArguments& arguments, Console& console) {
  if (!arguments.plan.empty()) return run_real_rank(arguments.plan, arguments.result, console);
  const RunConfig config = load_config(arguments.config, arguments.set);
  static_cast<void>(make_network(config));  // says what is wrong with it
  const Study study = study_of(arguments, config);
  const Simulator simulator = find_simulator();
  Common common{study, {arguments.config, arguments.network, command_of(arguments)}, measured_here()};
  common.origin.commit = build_commit();
  common.origin.command = common.names.command;
  const fs::path folder = prepare_results_folder(arguments.out, "simulate", arguments.overwrite);
  // Line by line: what is known is there when the rest is not waited for, and lockstep report makes a report of it.
  write_results(folder, {});
  const auto keep = [&](const Result& result) { append_result(folder / kResultsFile, result); };
  catch_stop_signals();
  try {
    const auto make = arguments.validate ? validated : simulated;
    publish(make(common, simulator, arguments, keep, console), folder, arguments, console);
  } catch (const Error& error) {
    remove_empty(folder);
    if (error.code() != ErrorCode::preempted || !fs::exists(folder)) throw;
    throw Error(ErrorCode::preempted,
                fmt::format("{}; lockstep report {} shows what was done", error.what(), shell_word(folder.string())));
  } catch (...) {
    remove_empty(folder);
    throw;
  }
}

}  // namespace

RunCommand simulate_command(Options& options) {
  const auto arguments = std::make_shared<SimulateArguments>();
  options.examples(R"(Examples:
  lockstep simulate examples/lenet5-fashion.toml --set train.batch=1024
  lockstep simulate my.toml --nodes 1,2,4,...,256 --network dragonfly --bandwidth 200Gbit/s --latency 500ns
  lockstep simulate my.toml --nodes 16 --way tree --way mpi --scaling weak --out simulated
  lockstep simulate my.toml --validate --nodes 2,4      against real ranks on this machine

Needs SimGrid (libsimgrid-dev). Every node has one rank with one thread, as fast as a core of this machine.)");
  options.argument("config", arguments->config, {"CONFIG.toml", "The configuration; its data are not loaded"});
  options.set(arguments->set);
  options.text("--nodes", arguments->nodes, {"N,...", "How many nodes; default: 1,2,4,...,64, with --validate 2,4"});
  options.text("--network", arguments->network, {"NAME", "fat-tree, dragonfly or star; default: fat-tree"});
  options.text("--bandwidth", arguments->bandwidth,
               {"RATE", "Of every link; default: 100Gbit/s, with --validate as measured"});
  options.text("--latency", arguments->latency, {"TIME", "Of every link; default: 1us, with --validate as measured"});
  options.texts("--scaling", arguments->scaling, {"KIND", "strong or weak; may be repeated; default: both"});
  options.texts(
      "--way", arguments->series,
      {"WAY", "How nodes share the work: tree, gather, mpi, tensor, pipeline; may be repeated; default: all"});
  options.integer("--parts", arguments->parts, 2, 64,
                  {"N", "The most nodes that share one network (tensor, pipeline); default: 4"});
  options.number("--timeout", arguments->timeout, 1, 86400, {"S", "Seconds for each simulation; default: 120"});
  options.text("--rates", arguments->rates,
               {"FILE", "Computing times of one core: read from the file, or written to it"});
  options.text("-o,--out", arguments->out, {"DIR", "The folder for results and report; default: runs/simulate-<n>"});
  options.flag("--overwrite", arguments->overwrite, "Replace an earlier simulation in --out");
  options.flag("--csv", arguments->csv, "Also write every table as CSV, and as the lines that Extra-P reads");
  options.flag("--validate", arguments->validate, "Compare with real ranks, started by mpirun");
  options.text("--hosts", arguments->hosts, {"FILE", "Hosts of the real ranks, as in launch"});
  options.text("--agent", arguments->agent, {"PROGRAM", "What starts commands on them; default: ssh"});
  // For a real rank of --validate.
  options.hidden("--plan", arguments->plan);
  options.hidden("--result", arguments->result);
  return [arguments](Console& console) { run_simulate(*arguments, console); };
}

}  // namespace lockstep::cli
