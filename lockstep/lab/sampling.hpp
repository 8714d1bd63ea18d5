#pragma once
// Samples of several variants that are to be compared, taken in turns until each is known well enough: the rules of
// Hoefler and Belli, "Scientific Benchmarking of Parallel Computing Systems" (2015).
//
//   const auto taken = sample_in_turns({{"simd", [&] { return seconds_of_simd(); }}, ...}, {.budget_seconds = 60});
//   taken[0].samples, taken[0].settled

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace lockstep {

struct SampledVariant {
  std::string name;
  /// Runs it once; the value of the sample (seconds, of the slowest rank). An exception ends this variant alone.
  std::function<double()> sample;
  int warm_up = 1;  // runs before the first sample, not counted
};

enum class SamplingEnd { settled, most, budget, stopped, failed };

struct SampledResult {
  std::string name;
  std::vector<double> samples{};  // all of them, in the order they were taken
  std::vector<double> warm_up{};  // not part of any statistics
  SamplingEnd end = SamplingEnd::budget;
  std::string failure{};  // what the exception said
  bool settled() const { return end == SamplingEnd::settled; }
};

struct SamplingRule {
  double share = 0.05;        // settled: half the 95 % interval of the median is within this share of the median
  int least = 6, most = 100;  // samples; fewer than 6 have no 95 % interval
  /// Of all variants together, by the clock, warm-up included. Every variant gets one sample even where it is used up.
  double budget_seconds = 60;
  /// What there is after every round, so that it can be kept: nothing is lost when the process is killed.
  std::function<void(const std::vector<SampledResult>&)> after_round{};
  std::function<bool()> stopped{};        // asked before every run: true ends it, what was taken is kept
  std::function<double()> now_seconds{};  // for tests; default: the steady clock
};

/// Runs every variant that is not yet settled once per round, in order. Rounds interleave the variants, so that other
/// load on the machine affects all of them alike. A run is skipped if the longest so far would exceed the budget.
std::vector<SampledResult> sample_in_turns(const std::vector<SampledVariant>& variants, const SamplingRule& rule);

/// True where half the 95 % interval (of too few samples for one: of what they span) is within `share` of the median,
/// and there are `least` samples or more.
bool is_settled(std::span<const double> samples, double share, int least);

/// Why a variant is not settled, for a warning: "not settled (the time budget ended): ...".
std::string unsettled_text(const SampledResult& result, double share);

/// "settled", "the most samples allowed", "the time budget ended", "stopped", "failed"
const char* to_string(SamplingEnd end);

}  // namespace lockstep
