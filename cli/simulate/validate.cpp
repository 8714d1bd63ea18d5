#include "cli/simulate/validate.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "cli/simulate/units.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/lab/record.hpp"
#include "lockstep/lab/report/results_page.hpp"

namespace lockstep::cli {

using namespace report;  // NOLINT(google-build-using-namespace): the words of documents

namespace {

constexpr double kMostBandwidth = 1e12;  // of an exchange that took no longer than an empty one

constexpr const char* kKind = "validation";
constexpr double kGoal = 0.2;  // the error that simulations are meant to keep within

/// Kind "validation": a step on real ranks, and a simulation of it.
struct ValidationRecord {
  std::string way{}, config{}, library{};
  int ranks = 1, hosts = 1;
  bool crowded = false;  // more ranks than cores
  std::int64_t batch = 0, slots = 0, steps = 0;
  double simulated_seconds = 0, work_seconds = 0, nap_seconds = 0, nap_cpu_seconds = 0;
  std::optional<bool> same_bits{};
  std::vector<double> local_bytes{}, local_seconds{}, local_cpu_seconds{};     // messages on one host
  std::vector<double> remote_bytes{}, remote_seconds{}, remote_cpu_seconds{};  // between two hosts
  static constexpr auto fields() {
    using R = ValidationRecord;
    return std::make_tuple(field("way", &R::way), field("config", &R::config), field("library", &R::library),
                           field("ranks", &R::ranks), defaulted("hosts", &R::hosts), field("crowded", &R::crowded),
                           field("batch", &R::batch), field("slots", &R::slots), field("steps", &R::steps),
                           field("simulated_seconds", &R::simulated_seconds), field("work_seconds", &R::work_seconds),
                           field("nap_seconds", &R::nap_seconds), field("nap_cpu_seconds", &R::nap_cpu_seconds),
                           field("same_bits", &R::same_bits), field("local_bytes", &R::local_bytes),
                           field("local_seconds", &R::local_seconds), field("local_cpu_seconds", &R::local_cpu_seconds),
                           field("remote_bytes", &R::remote_bytes), field("remote_seconds", &R::remote_seconds),
                           field("remote_cpu_seconds", &R::remote_cpu_seconds));
  }
};
using ValidationLine = Line<ValidationRecord>;

void add_times(const std::vector<MessageTime>& times, std::vector<double>& bytes, std::vector<double>& seconds,
               std::vector<double>& cpu_seconds) {
  for (const MessageTime& each : times) {
    bytes.push_back(each.bytes);
    seconds.push_back(each.seconds);
    cpu_seconds.push_back(each.cpu_seconds);
  }
}

/// One measured input of the simulation, in words.
std::string messages_text(const std::vector<double>& bytes, const std::vector<double>& seconds, const char* where) {
  if (bytes.empty() || bytes.size() != seconds.size()) return "";
  return fmt::format(" To swap {:.0f} bytes {} took {}, {:.0f} kB {}.", bytes.front(), where,
                     time_text(seconds.front()), bytes.back() / 1024, time_text(seconds.back()));
}

Row row_of(const ValidationLine& line, double error) {
  const Cell bits = !line.same_bits   ? Cell()
                    : *line.same_bits ? Cell("same").marked(Mark::same)
                                      : Cell("other").marked(Mark::differs);
  Row row{.cells = {Cell(line.way), Cell(line.ranks), median_cell(*line.summary()),
                    Cell(line.simulated_seconds).marked(Mark::simulated), Cell(error), Cell(line.work_seconds), bits}};
  if (line.crowded) row.cells[1].noted("more than cores");
  return row;
}

std::vector<std::string> notes_of(const std::vector<ValidationLine>& lines) {
  const ValidationLine& first = lines.front();
  std::vector<std::string> notes = {fmt::format(
      "Measured: the slowest rank's time for a step, the median of {} rounds of {} steps with its 95 % interval; "
      "batch {} in {} slots, {}. Simulated: the same steps, with times that were measured in turns with them: "
      "every rank's own work without messages, messages between two ranks, and naps. Own work: of the busiest rank.",
      first.samples.size(), first.steps, first.batch, first.slots, first.library)};
  notes.push_back(fmt::format("A rank that waits looked again every {} (it is busy for {} of that).{}{}",
                              time_text(first.nap_seconds), time_text(first.nap_cpu_seconds),
                              messages_text(first.local_bytes, first.local_seconds, "on one host"),
                              messages_text(first.remote_bytes, first.remote_seconds, "between two hosts")));
  if (std::any_of(lines.begin(), lines.end(), [](const ValidationLine& each) { return each.crowded; }))
    notes.emplace_back("Where there are more ranks than cores they share them, in the simulation too.");
  return notes;
}

/// A cluster that is like these machines: ranks share their cores, and a message between two hosts takes the network
/// what it took beyond the processors' part in it, or what the study was given.
ClusterRun calibrated_cluster(const MachineModel& model, const Study& study) {
  ClusterRun run{
      .cluster = {.topology = Topology::star, .bandwidth = kMostBandwidth, .latency = 0, .cores = model.cores},
      .nodes = static_cast<int>(model.host.size()),
      .model = model};
  if (model.remote.empty()) return run;
  // Two links lie between two nodes of a star. SimGrid takes a share of the bandwidth for each size of message.
  const auto network = [](const MessageTime& each) { return each.seconds - each.cpu_seconds; };
  const double latency = network(model.remote.front());
  double most = 0;
  std::vector<double> bandwidths;
  for (const MessageTime& each : model.remote) {
    const double seconds = network(each) - latency;
    bandwidths.push_back(seconds > 0 ? std::min(kMostBandwidth, each.bytes / seconds) : kMostBandwidth);
    most = std::max(most, bandwidths.back());
  }
  std::string factors;
  for (std::size_t i = 1; i < model.remote.size(); ++i) {
    // Each measured size stands for what is nearer to it than to its neighbours, counted in powers.
    const double from = i == 1 ? 0 : std::sqrt(model.remote[i - 1].bytes * model.remote[i].bytes);
    factors += fmt::format("{}{:.0f}:{}", factors.empty() ? "" : ";", from, bandwidths[i] / most);
  }
  run.cluster.bandwidth = study.bandwidth_given ? study.cluster.bandwidth : most;
  run.cluster.latency = study.latency_given ? study.cluster.latency : latency / 2;
  if (!study.bandwidth_given) run.more = {"smpi/bw-factor:" + factors};
  return run;
}

}  // namespace

void validate(const Study& study, const Simulator& simulator, const MpirunOptions& launch, Console& console,
              const std::function<void(const ValidationPoint&)>& ends) {
  for (const Series& series : study.series)
    for (const int ranks : study.nodes) {
      StepPlan plan = plan_on(study, ScalingKind::strong, series, ranks);
      if (ranks > 1 && (series.tensor || series.pipeline) && plan.parallel.tensor * plan.parallel.pipeline == 1)
        continue;
      plan.steps = kRealSteps;
      console.note(fmt::format("{} on {} real ranks, then simulated", series.name, ranks));
      const RealSteps real = measure_real_steps(plan, ranks, launch, study.timeout);
      ClusterRun run = calibrated_cluster(real.model, study);
      run.timeout = study.timeout;
      const SimulatedStep step = simulate_step(simulator, simulated_part(plan), real.rates, run);
      ends(
          {.series = series.name,
           .ranks = ranks,
           .real = real,
           .simulated = step.mean_seconds,
           .work = *std::max_element(step.work_seconds.begin(), step.work_seconds.end()),
           .same_bits = step.weight_hash.empty() ? std::nullopt : std::optional(step.weight_hash == real.weight_hash)});
    }
}

Result validation_result(const Study& study, const ValidationPoint& point, const StudyNames& names,
                         const ResultOrigin& origin) {
  const MachineModel& model = point.real.model;
  ValidationRecord record{.way = point.series,
                          .config = names.config,
                          .library = point.real.library,
                          .ranks = point.ranks,
                          .hosts = 1 + *std::max_element(model.host.begin(), model.host.end()),
                          .crowded = model.crowded(0),
                          .batch = study.plan.batch,
                          .slots = study.plan.slots,
                          .steps = kRealSteps,
                          .simulated_seconds = point.simulated,
                          .work_seconds = point.work,
                          .nap_seconds = model.nap.seconds,
                          .nap_cpu_seconds = model.nap.cpu_seconds,
                          .same_bits = point.same_bits};
  add_times(model.local, record.local_bytes, record.local_seconds, record.local_cpu_seconds);
  add_times(model.remote, record.remote_bytes, record.remote_seconds, record.remote_cpu_seconds);
  Result result = line_of(kKind, fmt::format("{}, {} ranks", point.series, point.ranks), record);
  result.samples = point.real.seconds;
  result.configuration = study.plan.config;
  result.weight_hash = point.real.weight_hash;
  result.origin = origin;
  return result;
}

Document validation_document(std::span<const Result> results) {
  const auto lines = lines_of<ValidationRecord>(results, kKind);
  if (lines.empty()) throw Error(ErrorCode::data, "nothing was validated");
  Document document{.title = "Simulated against measured", .subtitle = lines.front().config};
  Table table{
      .id = "simulated-against-measured",
      .title = "A step of training, measured and simulated",
      .columns = {{.title = "Way", .role = report::Role::call_path},
                  {.title = "Ranks", .role = report::Role::parameter},
                  {.title = "Measured", .format = seconds(), .key = "real_seconds", .role = report::Role::metric},
                  {.title = "Simulated", .format = seconds(), .key = "simulated_seconds", .role = report::Role::metric},
                  column("Error", percent(), "error"),
                  column("Own work", seconds(), "work_seconds"),
                  column("Weights")}};
  double worst = 0;
  std::string where;
  for (const ValidationLine& each : lines) {
    if (each.samples.empty()) refuse_field(each, "samples", "is empty");
    const double error = each.simulated_seconds / each.summary()->median - 1;
    if (where.empty() || std::abs(error) > std::abs(worst)) {
      worst = error;
      where = each.name;
    }
    table.rows.push_back(row_of(each, error));
  }
  table.notes = notes_of(lines);
  const bool good = std::abs(worst) <= kGoal;
  document.section("Summary").add(Notice{
      .kind = good ? Notice::Kind::good : Notice::Kind::warning,
      .text = fmt::format("The largest error of a **simulated** step is **{:+.1f} %** ({}): {} the {:.0f} % that "
                          "a simulation should keep.",
                          worst * 100, where, good ? "within" : "more than", kGoal * 100)});
  document.section("Steps").add(std::move(table));
  document.section("To repeat it").add(Code{.text = lines.front().origin.command});
  return document;
}

}  // namespace lockstep::cli
