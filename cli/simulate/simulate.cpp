#include "cli/simulate/simulate.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/simulate/results.hpp"
#include "cli/simulate/units.hpp"
#include "cli/simulate/validate.hpp"
#include "lockstep/config/suggest.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/file.hpp"
#include "lockstep/kernels/slots.hpp"
#include "lockstep/lab/report/data_files.hpp"
#include "lockstep/lab/report/text.hpp"
#include "lockstep/lab/report/write.hpp"
#include "lockstep/simulate/calibrate.hpp"

namespace lockstep::cli {

namespace fs = std::filesystem;

namespace {

std::size_t index_of(const char* option, const std::string& name, const std::vector<std::string>& names) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end())
    throw Error(ExitCode::usage, fmt::format("{} {}: unknown name{}; there are {}", option, name,
                                             suggestion(name, names), fmt::join(names, ", ")));
  return static_cast<std::size_t>(found - names.begin());
}

StepPlan plan_of(const RunConfig& config) {
  if (config.train.batch == 0)
    throw Error(
        ExitCode::usage,
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

Study study_of(const SimulateArguments& arguments, const RunConfig& config) {
  Study study{.plan = plan_of(config),
              .cluster = {.topology = static_cast<Topology>(index_of("--network", arguments.network, topology_names())),
                          .bandwidth = parse_bandwidth(arguments.bandwidth),
                          .latency = parse_latency(arguments.latency)},
              .nodes = parse_nodes(nodes_of(arguments), kMostNodes),
              .parts = arguments.parts,
              .timeout = arguments.timeout};
  for (const std::string& name : arguments.scaling)
    study.scalings.push_back(static_cast<ScalingKind>(index_of("--scaling", name, {"strong", "weak"})));
  if (study.scalings.empty()) study.scalings = {ScalingKind::strong, ScalingKind::weak};
  std::vector<std::string> names;
  for (const Series& series : all_series()) names.push_back(series.name);
  for (const std::string& name : arguments.series) study.series.push_back(all_series()[index_of("--way", name, names)]);
  if (study.series.empty()) study.series = all_series();
  return study;
}

SectionRates rates_for(const SimulateArguments& arguments, const StepPlan& plan, Console& console) {
  if (!arguments.rates.empty() && fs::exists(arguments.rates)) {
    const std::vector<std::byte> bytes = read_file(arguments.rates, std::int64_t{1} << 26, ExitCode::usage);
    return parse_rates({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  console.note("measuring the steps of one core");
  const SectionRates rates = measure_rates(plan);
  if (!arguments.rates.empty()) write_file_atomically(arguments.rates, rates_json(rates));
  return rates;
}

std::string command_of(const SimulateArguments& a) {
  std::string text = fmt::format("lockstep simulate {}", a.config);
  for (const std::string& each : a.set) text += fmt::format(" --set {}", each);
  text += fmt::format(" --nodes {}", nodes_of(a));
  if (a.validate) return text + " --validate";
  return text + fmt::format(" --network {} --bandwidth {} --latency {}", a.network, a.bandwidth, a.latency);
}

/// In place of those of an earlier simulation.
void write_results(const fs::path& folder, const std::vector<Result>& results) {
  std::string lines;
  for (const Result& result : results) lines += to_json_line(result) + "\n";
  fs::create_directories(folder);
  write_file_atomically(folder / "results.jsonl", lines);
}

void publish(const report::Document& document, const SimulateArguments& arguments, Console& console) {
  console.print(console.json() ? report::tables_json(document) + "\n" : report::to_text(document));
  if (arguments.out.empty()) return;
  fs::create_directories(arguments.out);
  const auto files = report::write_report(document, arguments.out, {.csv = true, .extra_p = true});
  console.note(fmt::format("report: {}", one_line(files.front().string())));
}

void note_idle(const Study& study, Console& console) {
  if (study.plan.slots < study.nodes.back() &&
      std::find(study.scalings.begin(), study.scalings.end(), ScalingKind::strong) != study.scalings.end())
    console.note(fmt::format(
        "a batch of {} has {} slots: in strong scaling more nodes have no samples; --set train.batch=... and "
        "train.slots=... give them some",
        study.plan.batch, study.plan.slots));
}

}  // namespace

void run_simulate(const SimulateArguments& arguments, Console& console) {
  if (!arguments.plan.empty()) return run_real_rank(arguments.plan, arguments.result, console);
  const RunConfig config = load_config(arguments.config, arguments.set);
  static_cast<void>(make_network(config));  // says what is wrong with it
  const Study study = study_of(arguments, config);
  const Simulator simulator = find_simulator();
  const std::string command = command_of(arguments);
  if (arguments.validate) {
    const auto points = validate(study, simulator, {.hosts = arguments.hosts, .agent = arguments.agent}, console);
    return publish(validation_document(study, points, arguments.config, command), arguments, console);
  }
  note_idle(study, console);
  const SectionRates rates = rates_for(arguments, study.plan, console);
  const auto points = run_study(study, simulator, rates, [&](const StudyPoint& point) {
    console.note(fmt::format("simulating {} scaling, {}, {} nodes",
                             point.scaling == ScalingKind::strong ? "strong" : "weak", point.series, point.nodes));
  });
  const StudyNames names{arguments.config, arguments.network, command};
  if (!arguments.out.empty()) write_results(arguments.out, study_results(study, points, names));
  publish(study_document(study, points, names), arguments, console);
}

}  // namespace lockstep::cli
