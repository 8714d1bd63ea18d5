#include "cli/exercise/check/speed.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "lockstep/lab/measure.hpp"
#include "lockstep/lab/peak.hpp"
#include "lockstep/lab/statistics.hpp"
#include "lockstep/parallel/team.hpp"

namespace lockstep::cli {

namespace {

constexpr int kMostSamples = 15, kLeastSamples = 3;
constexpr double kAboveRoof = 1.3;  // beyond the errors of both measurements

SpeedRow row_of(std::string name, int threads, const std::vector<double>& samples) {
  const Summary summary = summarise(samples);
  SpeedRow row{.name = std::move(name),
               .threads = threads,
               .seconds = summary.median,
               .low = summary.min,
               .high = summary.max,
               .samples = static_cast<int>(samples.size())};
  if (summary.interval) {
    row.low = summary.interval->low;
    row.high = summary.interval->high;
  }
  return row;
}

/// One timed call of a process; false where its results are wrong, and then the verdict says so.
class TimedKernel {
 public:
  TimedKernel(const Exercise& exercise, RunnerSession& session, Verdict& verdict)
      : exercise_(exercise), session_(session), verdict_(verdict) {}

  /// Warm: pages, caches, threads.
  bool prepare(std::uint64_t seed) { return call(seed) >= 0; }

  /// Seconds; below 0: wrong.
  double call(std::uint64_t seed) {
    Observation seen{.spec = {.shape = exercise_.timed, .seed = seed},
                     .given = CaseArguments(exercise_, exercise_.timed, seed),
                     .expected = CaseArguments(exercise_, exercise_.timed, seed),
                     .got = CaseArguments(exercise_, exercise_.timed, seed)};
    exercise_.fast(seen.expected.get(), 1);
    CallOutcome outcome = session_.place(seen.given, false);
    if (outcome.ok()) outcome = session_.call(seen.got);
    if (!outcome.ok()) {
      verdict_.tier = outcome.end == CallOutcome::End::too_long || outcome.end == CallOutcome::End::crashed
                          ? Tier::crashed
                          : Tier::rejected;
      verdict_.cause = outcome.end == CallOutcome::End::too_long ? "never-returns" : "crash";
      verdict_.words = {fmt::format("In the timed calls: {}.", describe_fault(outcome, seen.given))};
      return -1;
    }
    if (same_results(seen.got, seen.expected)) return outcome.seconds;
    verdict_.tier = Tier::rejected;
    session_.wait_and_copy(seen.got, 0.5);
    const bool later = same_results(seen.got, seen.expected);
    verdict_.cause = later ? "left-to-a-thread" : "wrong-when-timed";
    verdict_.words = {later ? "The function returned before its results were there: the work was left to a thread."
                            : "The results of the timed calls are wrong; those of the small cases were right."};
    verdict_.first_wrong = shape_text(exercise_, exercise_.timed);
    return -1;
  }

 private:
  const Exercise& exercise_;
  RunnerSession& session_;
  Verdict& verdict_;
};

/// The time that this machine allows, and by which of its limits.
struct Roof {
  double seconds = 0;
  const char* name = "memory";
};

Roof roof_of(const Cost& cost, int threads) {
  const double peak = measure_fma_peak(Scalar::float32, threads, "", 0.05);
  const double memory = measure_memory_bandwidth(threads, 0.15);
  const double arithmetic = cost.flops / peak, moving = cost.bytes / memory;
  return arithmetic > moving ? Roof{arithmetic, "arithmetic"} : Roof{moving, "memory"};
}

/// Yours, naive and simd in turns, on fresh numbers each time.
bool in_turns(const Exercise& exercise, int threads, TimedKernel& yours, const SpeedOptions& options,
              SpeedFindings& speed) {
  std::vector<double> mine, naive, simd;
  const double until = steady_seconds() + options.seconds;
  double naive_seconds = 0;
  for (int i = 0; i < kMostSamples && (i < kLeastSamples || steady_seconds() < until); ++i) {
    const std::uint64_t seed = options.seed + 100 + static_cast<std::uint64_t>(i);
    const double seconds = yours.call(seed);
    if (seconds < 0) return false;
    mine.push_back(seconds);
    CaseArguments arguments(exercise, exercise.timed, seed);
    simd.push_back(timed_seconds([&] { exercise.fast(arguments.get(), threads); }));
    if (naive_seconds > options.seconds / 3) continue;
    naive.push_back(timed_seconds([&] { exercise.oracle(arguments.get()); }));
    naive_seconds += naive.back();
  }
  speed.rows = {row_of("yours", threads, mine), row_of("naive", 1, naive), row_of("simd", threads, simd)};
  return true;
}

bool scale(const Exercise& exercise, const StartSession& start, const SpeedOptions& options, Verdict& verdict,
           SpeedFindings& speed) {
  for (const int threads : options.threads) {
    const auto session = start(threads);
    TimedKernel kernel(exercise, *session, verdict);
    if (!kernel.prepare(options.seed)) return false;
    std::vector<double> samples;
    for (int i = 0; i < 7; ++i) {
      samples.push_back(kernel.call(options.seed + 200 + static_cast<std::uint64_t>(i)));
      if (samples.back() < 0) return false;
    }
    speed.scaling.push_back(row_of("yours", threads, samples));
  }
  return true;
}

}  // namespace

LimitWords limit_words(const Track& track, double of_roof, double of_simd, const std::string& roof, double efficiency) {
  if (of_roof > 0.7)
    return {fmt::format("{}: it comes near what this machine allows", roof),
            roof == "memory" ? "nothing more with these numbers: each of them is moved once"
                             : "the next rung: more threads, or a device"};
  if (track.threads && efficiency < 0.6)
    return {"load balance, or waiting at barriers: more threads bring little",
            "one parallel region for everything, equal shares, no false sharing of cache lines"};
  if (of_simd < 0.35)
    return {"instructions: most of the time no vector unit, or one chain of dependent additions, is at work",
            "several results at once: the innermost loop over neighbours in memory, not over the terms of one sum"};
  if (of_simd < 0.9)
    return {"data that comes from a far cache, or registers that are filled too often",
            "tiles: use a number several times while it is in a register or in the nearest cache"};
  return {"the same as our SIMD kernel's", "look at docs/performance.md for what is left"};
}

void measure_speed(const Exercise& exercise, const Track& track, const StartSession& start, const SpeedOptions& options,
                   Verdict& verdict) {
  const int threads = track.threads ? available_cpus() : 1;
  const auto session = start(threads);
  TimedKernel kernel(exercise, *session, verdict);
  SpeedFindings speed;
  if (!kernel.prepare(options.seed) || !in_turns(exercise, threads, kernel, options, speed)) return;
  if (track.threads && !scale(exercise, start, options, verdict, speed)) return;
  const double mine = speed.rows[0].seconds;
  speed.of_naive = speed.rows[1].seconds / mine;
  speed.of_simd = speed.rows[2].seconds / mine;
  const CaseArguments arguments(exercise, exercise.timed, options.seed);
  const Roof roof = roof_of(exercise.cost(arguments.get()), threads);
  speed.of_roof = roof.seconds / mine;
  speed.roof = roof.name;
  double efficiency = 1;
  for (const SpeedRow& row : speed.scaling)
    if (row.threads == threads) efficiency = speed.scaling.front().seconds / row.seconds / threads;
  const LimitWords words = limit_words(track, speed.of_roof, speed.of_simd, speed.roof, efficiency);
  speed.limit = words.limit;
  speed.next = words.next;
  // Data in a cache may come faster than from memory, and our own kernel shows by how much.
  const double allowed = speed.roof == "memory" ? std::max(1.0, roof.seconds / speed.rows[2].seconds) * 2 : 1.0;
  if (speed.of_roof > kAboveRoof * allowed) {
    verdict.tier = Tier::suspicious;
    verdict.cause = "above-roof";
    verdict.words = {
        fmt::format("It is {:.1f} times as fast as this machine can be ({}): the work is not done where it is timed.",
                    speed.of_roof, speed.roof)};
  }
  verdict.speed = std::move(speed);
}

}  // namespace lockstep::cli
