#include "cli/bench/limits.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "lockstep/core/aligned.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/kernels/naive/table.hpp"
#include "lockstep/lab/machine.hpp"
#include "lockstep/lab/measure.hpp"
#include "lockstep/lab/peak.hpp"
#include "lockstep/parallel/team.hpp"

namespace lockstep::cli {

namespace {

// Above this share of a limit, it is called the limit; below the second, it does not matter.
constexpr double kNear = 0.5, kMatters = 0.3;

double best_of(int rounds, const auto& work) {
  double best = timed_seconds(work);
  for (int round = 1; round < rounds; ++round) best = std::min(best, timed_seconds(work));
  return best;
}

/// One row with itself is a single sum, in which every step waits for the last.
double measure_chain() {
  constexpr std::int64_t kSteps = 100'000;
  AlignedBuffer<float> x(kSteps), y(1);
  const PrimitiveTable naive = naive_primitives();
  return best_of(5,
                 [&] {
                   naive.xxt({.x = dense_matrix<const float>(x.data(), 1, kSteps), .y = dense_matrix(y.data(), 1, 1)});
                 }) /
         double(kSteps);
}

double measure_team(int threads) {
  constexpr int kCalls = 50;
  Team team(threads);
  return best_of(5,
                 [&] {
                   for (int call = 0; call < kCalls; ++call) team.run([](const Member&) {});
                 }) /
         kCalls;
}

/// "310 us", "1.25 ms"
std::string time_text(double seconds) {
  if (seconds < 1e-6) return fmt::format("{:.3g} ns", seconds * 1e9);
  if (seconds < 1e-3) return fmt::format("{:.3g} us", seconds * 1e6);
  return seconds < 1 ? fmt::format("{:.3g} ms", seconds * 1e3) : fmt::format("{:.3g} s", seconds);
}

const ThreadLimits& limits_of(int threads, const PrimitiveLimits& limits) {
  const auto found = limits.on_threads.find(threads);
  return found != limits.on_threads.end() ? found->second : limits.on_threads.rbegin()->second;
}

/// The rates of memory and arithmetic that the result comes near, or how far it is from both.
std::string rates_text(const PrimitiveSubject& subject, double seconds, const ThreadLimits& at,
                       const PrimitiveLimits& limits) {
  const double bytes = subject.cost.bytes / seconds, flops = subject.cost.flops / seconds;
  const bool arithmetic = subject.cost.flops > subject.cost.bytes;  // more than one operation per byte: a product
  const double memory_share = bytes / at.bandwidth, peak_share = flops / at.peak;
  if (arithmetic && peak_share > 1.05)
    return fmt::format("arithmetic: {:.0f} GFLOP/s, more than the {:.0f} measured as the peak: something else ran then",
                       flops * 1e-9, at.peak * 1e-9);
  if (arithmetic && peak_share >= kNear)
    return fmt::format("arithmetic: {:.0f} of the {:.0f} GFLOP/s of its processors ({:.0f} %)", flops * 1e-9,
                       at.peak * 1e-9, 100 * peak_share);
  if (memory_share >= 1.1 && subject.cost.bytes <= double(limits.cache_bytes))
    return fmt::format(
        "bandwidth of the cache: {:.1f} GB/s, {:.1f} times what memory gives; its {:.0f} MB fit into {:.0f} MB",
        bytes * 1e-9, memory_share, subject.cost.bytes * 1e-6, double(limits.cache_bytes) * 1e-6);
  if (memory_share >= kNear)
    return fmt::format("bandwidth of memory: {:.1f} of {:.1f} GB/s ({:.0f} %)", bytes * 1e-9, at.bandwidth * 1e-9,
                       100 * memory_share);
  if (!arithmetic)
    return fmt::format("instructions, not memory: {} per element, {:.0f} % of memory's rate",
                       time_text(seconds / subject.steps), 100 * memory_share);
  return fmt::format(
      "neither arithmetic ({:.0f} % of the peak) nor memory ({:.0f} %): moving operands to the units, and waiting",
      100 * peak_share, 100 * memory_share);
}

std::string device_text(const PrimitiveSubject& subject, double seconds, const ThreadLimits& at,
                        const PrimitiveLimits& limits) {
  if (!limits.device_is_cpu)  // its memory and arithmetic are not those of the processors
    return fmt::format("{}, {:.1f} GB/s and {:.0f} GFLOP/s on {}; an empty kernel takes {}",
                       subject.blocks < limits.device_units ? "idle units" : "its own limits",
                       subject.cost.bytes / seconds * 1e-9, subject.cost.flops / seconds * 1e-9, limits.device,
                       time_text(limits.launch_seconds.value_or(0)));
  if (subject.blocks > 0 && subject.blocks < limits.device_units)
    return fmt::format("idle units: {} on {} units of the device; {}", count_of(subject.blocks, "block"),
                       limits.device_units, rates_text(subject, seconds, at, limits));
  if (limits.launch_seconds && *limits.launch_seconds / seconds >= kMatters)
    return fmt::format("launch: an empty kernel takes {} of its {}", time_text(*limits.launch_seconds),
                       time_text(seconds));
  // A thread per element is a chain per thread; a unit that does not lay several into its lanes waits as one core does.
  const double chains = seconds / subject.steps * limits.device_units;
  if (subject.cost.flops > subject.cost.bytes && chains >= kNear * limits.chain_seconds)
    return fmt::format("latency: {} per multiply-add on each of {} units ({} in a lone chain): no lanes, no tiles",
                       time_text(chains), limits.device_units, time_text(limits.chain_seconds));
  return rates_text(subject, seconds, at, limits);
}

}  // namespace

PrimitiveLimits measure_limits(const std::vector<int>& threads, bool quick) {
  PrimitiveLimits limits{
      .cpus = available_cpus(), .cache_bytes = largest_cache_bytes(), .chain_seconds = measure_chain()};
  const double seconds = quick ? 0.06 : 0.2;
  std::vector<int> counts = threads;
  counts.push_back(1);
  for (const int count : counts) {
    if (limits.on_threads.contains(count)) continue;
    const int busy = std::min(count, limits.cpus);
    ThreadLimits at{.team_seconds = measure_team(count)};
    if (const auto same = limits.on_threads.find(busy); same != limits.on_threads.end()) {
      at.bandwidth = same->second.bandwidth;
      at.peak = same->second.peak;
    } else {
      at.bandwidth = measure_memory_bandwidth(busy, seconds);
      at.peak = measure_fma_peak(Scalar::float32, busy, "", seconds);
    }
    limits.on_threads[count] = at;
  }
  return limits;
}

Json limits_json(const PrimitiveLimits& limits) {
  Json threads = Json::array();
  for (const auto& [count, at] : limits.on_threads)
    threads.push_back({{"threads", count},
                       {"memory_gbytes_per_second", at.bandwidth * 1e-9},
                       {"peak_gflops_per_second", at.peak * 1e-9},
                       {"team_seconds", at.team_seconds}});
  Json json = {{"processors", limits.cpus},
               {"cache_bytes", limits.cache_bytes},
               {"chain_seconds", limits.chain_seconds},
               {"threads", threads}};
  if (limits.launch_seconds)
    json["device"] = {
        {"name", limits.device}, {"units", limits.device_units}, {"launch_seconds", *limits.launch_seconds}};
  return json;
}

std::string what_limits(const PrimitiveSubject& subject, double seconds, double trivial_seconds,
                        const PrimitiveLimits& limits) {
  const double step = seconds / subject.steps;
  if (subject.kind == PrimitiveKind::python)
    return fmt::format("interpreter overhead: {} per step, the compiled loop takes {}", time_text(step),
                       time_text(trivial_seconds / subject.steps));
  const ThreadLimits& at = limits_of(subject.threads, limits);
  if (subject.kind == PrimitiveKind::device)
    return device_text(subject, seconds, limits_of(limits.cpus, limits), limits);
  if (subject.kind == PrimitiveKind::unoptimised)
    return fmt::format("instructions: {} per step, every variable goes through memory; optimised {}", time_text(step),
                       time_text(trivial_seconds / subject.steps));
  std::string crowd;
  if (subject.threads > limits.cpus)
    crowd = fmt::format("{} threads take turns on {}; ", subject.threads, count_of(limits.cpus, "processor"));
  if (subject.threads > 1 && at.team_seconds / seconds >= kMatters)
    return fmt::format("{}launch: to start {} threads and wait for them takes {} of its {}", crowd, subject.threads,
                       time_text(at.team_seconds), time_text(seconds));
  const bool chains = subject.kind == PrimitiveKind::trivial && subject.cost.flops > subject.cost.bytes;
  if (chains && step >= kNear * limits.chain_seconds && subject.cost.flops / seconds < kNear * at.peak)
    return fmt::format(
        "latency: {} per multiply-add, of which each waits for the last ({} in a lone chain); {:.1f} % of the peak",
        time_text(step), time_text(limits.chain_seconds), 100 * subject.cost.flops / seconds / at.peak);
  return crowd + rates_text(subject, seconds, at, limits);
}

}  // namespace lockstep::cli
