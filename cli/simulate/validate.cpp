#include "cli/simulate/validate.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace lockstep::cli {

namespace {

constexpr double kMostBandwidth = 1e12;  // of an exchange that took no longer than an empty one

}  // namespace

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

}  // namespace lockstep::cli
