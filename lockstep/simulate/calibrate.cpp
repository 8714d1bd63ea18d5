#include "lockstep/simulate/calibrate.hpp"

#include <algorithm>
#include <chrono>

#include "lockstep/lab/profile.hpp"
#include "lockstep/lab/statistics.hpp"
#include "lockstep/simulate/silent_transport.hpp"
#include "lockstep/simulate/step_program.hpp"
#include "lockstep/train/slot_chunks.hpp"

namespace lockstep {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kStepsPerSample = 4;

/// One more sample of every section: its time per call, with the work of a call.
struct SectionSamples {
  double work = 0;
  std::vector<double> seconds{};
};

void take_sample(const Profile& profile, std::vector<SectionSamples>& samples) {
  samples.resize(profile.sections().size());
  for (std::size_t section = 0; section < samples.size(); ++section) {
    const SectionSum sum = profile.sum(section);
    if (sum.calls == 0) continue;
    samples[section].work = (sum.flops > 0 ? sum.flops : sum.bytes) / double(sum.calls);
    samples[section].seconds.push_back(double(sum.ns) * 1e-9 / double(sum.calls));
  }
}

/// One chunk of `slots` slots, again and again, as one of the ranks that split the layers.
std::vector<SectionSamples> measure_chunk(const StepPlan& plan, int member, std::int64_t slots,
                                          const CalibrationOptions& options) {
  StepPlan one = plan;
  one.batch = plan.batch / plan.slots * slots;
  one.slots = slots;
  one.parallel = {.tensor = plan.parallel.tensor};
  one.steps = kStepsPerSample - 1;
  const auto data = make_step_samples(one);
  const RunConfig config = config_of(one);
  Network network = make_network(config);
  Ranks ranks(make_silent_transport(member, plan.parallel.tensor));
  Trainer trainer(network, config.train, ranks);
  std::vector<SectionSamples> samples;
  Profile profile(0);
  trainer.fit(*data, {.profile = &profile});  // to warm up
  const auto end = Clock::now() + std::chrono::duration<double>(options.seconds / plan.parallel.tensor);
  for (int round = 0; round < options.least || Clock::now() < end; ++round) {
    trainer.fit(*data, {.profile = &profile});
    take_sample(profile, samples);
  }
  return samples;
}

/// The addition of the tree, on vectors of the network's size.
RatePoint measure_addition(std::int64_t elements, Backend backend) {
  const KernelTable<float> kernels = make_table<float>(backend);
  KernelContext context;
  AlignedBuffer<float> left(elements), right(elements);
  std::vector<double> seconds;
  for (int round = 0; round < 51; ++round) {
    const auto start = Clock::now();
    add_into(left.data(), right.data(), elements, kernels, context);
    seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
  }
  return {add_cost(elements, 1, sizeof(float)).flops, median(seconds)};
}

}  // namespace

std::vector<std::int64_t> chunk_slots(const StepPlan& plan) {
  const RunConfig config = config_of(plan);
  const Network network = make_network(config);
  const std::int64_t most =
      slots_per_chunk(plan.batch, plan.slots,
                      {Sequence<float>(body_of(network, config.train.loss)).activation_elements(),
                       network.parameter_count(), config.model.precision == Precision::float64 ? 8U : 4U});
  std::vector<std::int64_t> sizes;
  for (std::int64_t slots = 1; slots <= most; slots *= 2) sizes.push_back(slots);
  return sizes;
}

namespace {

/// The points of a section, by work: the same work only once, and noise must not make more of it take less time.
void arrange(std::vector<RatePoint>& points) {
  std::sort(points.begin(), points.end(), [](const RatePoint& a, const RatePoint& b) { return a.work < b.work; });
  std::vector<RatePoint> kept;
  for (const RatePoint& point : points) {
    if (kept.empty() || point.work > kept.back().work * 1.0001)
      kept.push_back({point.work, std::max(point.seconds, kept.empty() ? 0 : kept.back().seconds)});
    else
      kept.back().seconds = std::max(kept.back().seconds, point.seconds);  // the slowest rank counts
  }
  points = std::move(kept);
}

}  // namespace

SectionRates measure_rates(const StepPlan& plan, const CalibrationOptions& options) {
  SectionRates rates;
  for (int member = 0; member < plan.parallel.tensor; ++member)
    for (const std::int64_t slots : chunk_slots(plan)) {
      const std::vector<SectionSamples> samples = measure_chunk(plan, member, slots, options);
      rates.sections.resize(samples.size());
      for (std::size_t section = 0; section < samples.size(); ++section)
        if (samples[section].work > 0)
          rates.sections[section].push_back({samples[section].work, median(samples[section].seconds)});
    }
  for (auto& points : rates.sections) arrange(points);
  const RunConfig config = config_of(plan);
  rates.sections[kReduceSection] = {measure_addition(make_network(config).parameter_count(), config.train.backend)};
  return rates;
}

}  // namespace lockstep
