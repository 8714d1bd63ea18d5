#include "lockstep/simulate/calibrate.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

#include "lockstep/lab/measure.hpp"
#include "lockstep/lab/profile.hpp"
#include "lockstep/lab/statistics.hpp"
#include "lockstep/parallel/transport.hpp"
#include "lockstep/simulate/step_program.hpp"
#include "lockstep/train/slot_chunks.hpp"

namespace lockstep {

namespace {

constexpr std::size_t kShort = 16;  // a length, or a small number as text

/// One rank of several, alone: what it sends goes nowhere, and what it waits for is there at once. Its steps are the
/// rank's own work, in the shapes that it has among the others, without a message. A short text sent to a rank comes
/// back from that rank, so that ranks agree on what they ask each other. Of longer messages nothing arrives: the memory
/// keeps what it holds.
class SilentTransport final : public Transport {
 public:
  SilentTransport(int rank, int size) : rank_(rank), size_(size), said_(static_cast<std::size_t>(size)) {}

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  int local_size() const override { return size_; }
  int local_rank() const override { return rank(); }
  std::string host() const override { return "localhost"; }
  std::string describe() const override { return "nobody else"; }

  TransportRequest start_send(int to, int, std::span<const std::byte> bytes) override {
    if (bytes.size() <= kShort) said_[static_cast<std::size_t>(to)].assign(bytes.begin(), bytes.end());
    return 0;
  }
  TransportRequest start_receive(int from, int, std::span<std::byte> bytes) override {
    const std::vector<std::byte>& said = said_[static_cast<std::size_t>(from)];
    if (bytes.size() == said.size()) std::copy(said.begin(), said.end(), bytes.begin());
    return 0;
  }
  bool finished(TransportRequest) override { return true; }
  TransportRequest start_library_sum(std::span<float>) override { return 0; }
  TransportRequest start_library_sum(std::span<double>) override { return 0; }
  [[noreturn]] void abort(int exit_code) override { std::_Exit(exit_code); }

 private:
  int rank_, size_;
  std::vector<std::vector<std::byte>> said_;  // to whom, the last short one
};

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
  Ranks ranks(std::make_unique<SilentTransport>(member, plan.parallel.tensor));
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
  for (int round = 0; round < 51; ++round)
    seconds.push_back(timed_seconds([&] { add_into(left.data(), right.data(), elements, kernels, context); }));
  return {add_cost(elements, 1, sizeof(float)).flops, median(seconds)};
}

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

/// No part of a step: they come once per epoch.
bool between_epochs(std::size_t section) {
  return section == kReportSection || section == kShuffleSection || section == kValidationSection;
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

SectionRates measure_own_work(const StepPlan& plan, const Dataset& samples, int rank, int ranks) {
  Ranks silent(std::make_unique<SilentTransport>(rank, ranks));
  Profile profile(0);
  std::vector<SectionSum> before;  // with the first step, which touches new memory
  const auto at_step = [&] {
    if (before.empty()) before = profile.recorder(0).sums();
    return 0.0;
  };
  run_steps(plan, samples, silent, {.seconds = at_step, .profile = &profile});
  const std::vector<SectionSum>& after = profile.recorder(0).sums();
  SectionRates rates;
  rates.sections.resize(after.size());
  rates.call_seconds.resize(after.size());
  for (std::size_t section = 0; section < after.size(); ++section) {
    const auto calls = double(after[section].calls - before[section].calls);
    if (calls == 0 || between_epochs(section)) continue;
    const double seconds = double(after[section].ns - before[section].ns) * 1e-9 / calls;
    const double flops = after[section].flops - before[section].flops;
    const double work = (flops > 0 ? flops : after[section].bytes - before[section].bytes) / calls;
    if (work > 0)
      rates.sections[section] = {{work, seconds}};
    else
      rates.call_seconds[section] = seconds;
  }
  return rates;
}

}  // namespace lockstep
