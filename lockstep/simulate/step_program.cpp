#include "lockstep/simulate/step_program.hpp"

#include <algorithm>

#include "lockstep/data/memory_dataset.hpp"
#include "lockstep/data/views.hpp"
#include "lockstep/train/trainer.hpp"

namespace lockstep {

namespace {

constexpr std::int64_t kDifferentSamples = 64;

/// Ends training in the middle: what follows an epoch is no part of a step.
struct Enough {};

Targets make_step_targets(const RunConfig& config, std::int64_t outputs) {
  // A single output without a class tells two of them apart, or is a number.
  if (!is_of_softmax(config.train.loss) && outputs == 1) {
    Array values{ElementType::float64, {kDifferentSamples, 1}, {}};
    values.bytes.resize(kDifferentSamples * sizeof(double));
    return make_values(std::move(values), "random samples");
  }
  Targets targets;
  targets.classes = outputs;
  for (std::int64_t i = 0; i < kDifferentSamples; ++i) targets.labels.push_back(static_cast<std::int32_t>(i % outputs));
  return targets;
}

}  // namespace

std::shared_ptr<const Dataset> make_step_samples(const StepPlan& plan) {
  const RunConfig config = config_of(plan);
  const Network network = make_network(config);
  const std::int64_t features = network.input().elements();
  Array pixels{ElementType::uint8, {kDifferentSamples, features}, {}};
  std::uint32_t state = 1;  // any bytes will do, as long as they are always the same
  for (std::int64_t i = 0; i < kDifferentSamples * features; ++i) {
    state = state * 1664525U + 1013904223U;
    pixels.bytes.push_back(static_cast<std::byte>(state >> 24));
  }
  const MemoryDataset raw(std::move(pixels), network.input(), make_step_targets(config, network.output().elements()));
  const auto base = raw.scaled(Scaling(1.0 / 256));
  std::vector<std::int64_t> ids(static_cast<std::size_t>(plan.batch * (plan.steps + 1)));
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::int64_t>(i) % kDifferentSamples;
  return std::make_shared<SubsetDataset>(base, std::move(ids));
}

StepTimes run_steps(const StepPlan& plan, const Dataset& samples, Ranks& ranks, const StepClock& clock) {
  const RunConfig config = config_of(plan);
  Network network = make_network(config);
  Trainer trainer(network, config.train, ranks);
  Profile charged(0, clock.charge);
  StepTimes times;
  const auto on_step = [&](const StepReport& report) {
    times.ends.push_back(clock.seconds());
    if (report.step == plan.steps + 1) throw Enough{};
  };
  try {
    trainer.fit(samples, {.on_step = on_step, .profile = clock.profile != nullptr ? clock.profile : &charged});
  } catch (const Enough&) {
  }
  if (plan.parallel.pipeline * plan.parallel.tensor == 1 && ranks.leader())
    times.weight_hash = weight_hash(network.values());
  return times;
}

std::vector<double> step_seconds(const std::vector<StepTimes>& ranks) {
  std::vector<double> seconds;
  for (std::size_t step = 1; step < ranks.front().ends.size(); ++step) {
    double slowest = 0;
    for (const StepTimes& rank : ranks) slowest = std::max(slowest, rank.ends[step] - rank.ends[step - 1]);
    seconds.push_back(slowest);
  }
  return seconds;
}

double mean_step_seconds(const std::vector<StepTimes>& ranks) {
  double slowest = 0;
  for (const StepTimes& rank : ranks) slowest = std::max(slowest, rank.ends.back() - rank.ends.front());
  return slowest / double(ranks.front().ends.size() - 1);
}

}  // namespace lockstep
