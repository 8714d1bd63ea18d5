#include "cli/simulate/validate.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "cli/simulate/units.hpp"
#include "lockstep/parallel/team.hpp"

namespace lockstep::cli {

namespace {

constexpr int kRealSteps = 15;           // in each round
constexpr double kMostBandwidth = 1e12;  // of an exchange that took no longer than an empty one

}  // namespace

ClusterRun calibrated_cluster(const std::vector<ExchangeTime>& exchanges, int nodes) {
  // Two links lie between two nodes of a star. SimGrid takes a share of the bandwidth for each size of message.
  const double latency = exchanges.front().seconds;
  double most = 0;
  std::vector<double> bandwidths;
  for (const ExchangeTime& each : exchanges) {
    const double seconds = each.seconds - latency;
    bandwidths.push_back(seconds > 0 ? std::min(kMostBandwidth, each.bytes / seconds) : kMostBandwidth);
    most = std::max(most, bandwidths.back());
  }
  std::string factors;
  for (std::size_t i = 1; i < exchanges.size(); ++i) {
    // Each measured size stands for what is nearer to it than to its neighbours, counted in powers.
    const double from = i == 1 ? 0 : std::sqrt(exchanges[i - 1].bytes * exchanges[i].bytes);
    factors += fmt::format("{}{:.0f}:{}", factors.empty() ? "" : ";", from, bandwidths[i] / most);
  }
  return {.cluster = {.topology = Topology::star, .bandwidth = most, .latency = latency / 2},
          .nodes = nodes,
          .more = {"smpi/bw-factor:" + factors}};
}

std::vector<ValidationPoint> validate(const Study& study, const Simulator& simulator, const LaunchArguments& launch,
                                      Console& console) {
  std::vector<ValidationPoint> points;
  for (const Series& series : study.series)
    for (const int ranks : study.nodes) {
      StepPlan plan = plan_on(study, ScalingKind::strong, series, ranks);
      if (ranks > 1 && (series.tensor || series.pipeline) && plan.parallel.tensor * plan.parallel.pipeline == 1)
        continue;
      plan.steps = kRealSteps;
      console.note(fmt::format("{} on {} real ranks, then simulated", series.name, ranks));
      const RealSteps real = measure_real_steps(plan, ranks, launch, study.timeout);
      ClusterRun run = ranks == 1 ? ClusterRun{.nodes = 1} : calibrated_cluster(real.exchanges, ranks);
      run.timeout = study.timeout;
      const SimulatedStep step = simulate_step(simulator, plan, real.rates, run);
      points.push_back(
          {.series = series.name,
           .ranks = ranks,
           .real = summarise(real.seconds),
           .simulated = median(step.seconds),
           .work = *std::max_element(step.work_seconds.begin(), step.work_seconds.end()),
           .same_bits = step.weight_hash.empty() ? std::nullopt : std::optional(step.weight_hash == real.weight_hash),
           .crowded = launch.hosts.empty() && ranks > available_cpus(),
           .library = real.library});
    }
  return points;
}

report::Document validation_document(const Study& study, const std::vector<ValidationPoint>& points,
                                     const std::string& config, const std::string& command) {
  using namespace report;
  Document document{.title = "Simulated against measured", .subtitle = config};
  Table table{.id = "simulated-against-measured",
              .title = "A step of training, measured and simulated",
              .columns = {{.title = "Way"},
                          {.title = "Ranks"},
                          {.title = "Measured", .format = seconds(), .key = "real_seconds"},
                          {.title = "Simulated", .format = seconds(), .key = "simulated_seconds"},
                          {.title = "Error", .format = percent(), .key = "error"},
                          {.title = "Own work", .format = seconds(), .key = "work_seconds"},
                          {.title = "Weights"}}};
  double worst = 0;
  bool crowded = false;
  for (const ValidationPoint& point : points) {
    const Cell bits = !point.same_bits   ? Cell()
                      : *point.same_bits ? Cell("same").marked(Mark::same)
                                         : Cell("other").marked(Mark::differs);
    Row row{.cells = {Cell(point.series), Cell(point.ranks),
                      Cell(point.real.median).interval(point.real.interval.low, point.real.interval.high),
                      Cell(point.simulated).marked(Mark::simulated), Cell(point.error()), Cell(point.work), bits}};
    if (point.crowded) row.cells[1].noted("more than cores");
    crowded = crowded || point.crowded;
    worst = std::max(worst, std::abs(point.error()));
    table.rows.push_back(std::move(row));
  }
  table.notes = {fmt::format(
      "Measured: the slowest rank, the median of {} rounds of {} steps with its 95 % interval; batch {} in {} "
      "slots{}. Simulated: the same steps on a cluster whose messages take what exchanges between "
      "these ranks took, and whose work takes what it took while all ranks worked.",
      points.empty() ? 0 : points.front().real.count, kRealSteps, study.plan.batch, study.plan.slots,
      points.empty() ? "" : ", " + points.front().library)};
  if (crowded)
    table.notes.emplace_back(
        "Where there are more ranks than cores they take turns: exchanges and work were measured under that crowding.");
  document.section("Summary").add(
      Paragraph{fmt::format("The largest error of a simulated step is **{:.1f} %**.", worst * 100)});
  document.section("Steps").add(std::move(table));
  document.section("To repeat it").add(Code{.text = command});
  return document;
}

}  // namespace lockstep::cli
