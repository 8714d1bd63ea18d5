// What mpi-digits claims, judged by its results.

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "cli/reproduce/mpi_digits/experiment.hpp"
#include "cli/reproduce/mpi_digits/published.hpp"

namespace lockstep::cli {

namespace {

namespace published = digits_published;

using Range = published::Range;

constexpr double kNearCost = 0.005, kFarCost = 0.02;
constexpr Range kLastCosts{published::kTrainings[2].last_cost, published::kTrainings[0].last_cost};
constexpr Range kPrecisions{published::kTrainings[1].precision, published::kTrainings[2].precision};

/// How far the one reaches out of the other.
double excess(const Range& ours, const Range& theirs) {
  return std::max({0.0, theirs.low - ours.low, ours.high - theirs.high});
}

/// The space between two ranges; 0: they overlap.
double gap(const Range& a, const Range& b) { return std::max({0.0, b.low - a.high, a.low - b.high}); }

void widen(std::map<std::string, Range>& ranges, const std::string& data, double value) {
  Range& range = ranges.try_emplace(data, Range{value, value}).first->second;
  range = {std::min(range.low, value), std::max(range.high, value)};
}

/// The most ranks for which there are processors.
Judgement judge_ranks(const Findings& findings) {
  const auto modes = findings.series<ModeRecord>(kDigitModes);
  const ModeLine* most = nullptr;
  for (const ModeLine& each : modes) {
    if (each.ranks < 2 || each.ranks > each.origin.machine.processors || each.from == "rank0") continue;
    if (most == nullptr || each.ranks > most->ranks) most = &each;
  }
  if (most == nullptr) return {.facts = "No two ranks had a processor each."};
  const ModeLine* sequential =
      first_where(modes, [](const ModeLine& each) { return short_name(each) == kSequentialMode; });
  return judge_speed_up(1 + published::kClaim, compare(sequential, most), fmt::format("{} ranks are", most->ranks));
}

Judgement judge_loops(const Findings& findings) {
  const auto python = findings.find_line<ModeRecord>(fmt::format("{}: {}", kDigitModes, kPythonMode));
  if (!python) return {.facts = "No loops in Python were timed."};
  const double whole = median_of(*python);
  const double loops = python->phases.cost.value_or(0) + python->phases.back.value_or(0);
  const double share = whole > 0 ? std::min(loops / whole, 1.0) : 0;
  return {
      .verdict = judge_distance(1 - share, 0.2, 0.5),
      .here = fmt::format("{:.0f} %", 100 * share),
      .facts = fmt::format("Cost and back propagation take {:.3g} s of {:.3g} s per iteration of our loops in Python.",
                           loops, whole)};
}

std::map<std::string, Range> last_costs(const Findings& findings) {
  std::map<std::string, Range> ranges;
  for (const TrainingLine& each : findings.series<TrainingRecord>(kDigitTraining))
    widen(ranges, each.data, series_of(each, &TrainingRecord::cost).back());
  return ranges;
}

Judgement judge_costs(const Findings& findings) {
  const auto ranges = last_costs(findings);
  const auto digits = ranges.find("digits");
  if (digits == ranges.end()) return {.facts = "The 5000 digits were not here."};
  return {
      .verdict = judge_distance(excess(digits->second, kLastCosts), kNearCost, kFarCost),
      .here = fmt::format("{:.4f} to {:.4f}", digits->second.low, digits->second.high),
      .facts = fmt::format("From several first weights the last cost on the digits is {:.4f} to {:.4f}; ten outputs "
                           "that say \"one in ten\" for every sample cost 3.25.",
                           digits->second.low, digits->second.high)};
}

/// The report says Fashion-MNIST; its costs are nearer to those of the one or of the other.
Judgement judge_data(const Findings& findings) {
  const auto ranges = last_costs(findings);
  if (ranges.count("digits") == 0 || ranges.count("fashion") == 0)
    return {.facts = "Only one of the two sets of data was here."};
  const Range digits = ranges.at("digits"), fashion = ranges.at("fashion");
  const double to_digits = gap(digits, kLastCosts), to_fashion = gap(fashion, kLastCosts);
  return {
      .verdict = to_fashion < to_digits   ? ClaimVerdict::holds
                 : to_fashion > to_digits ? ClaimVerdict::fails
                                          : ClaimVerdict::not_shown,
      .here = fmt::format("{:.4f} to {:.4f}", fashion.low, fashion.high),
      .facts = fmt::format("The last costs are {:.4f} to {:.4f} on Fashion-MNIST and {:.4f} to {:.4f} on the digits, "
                           "{:.4f} and {:.4f} away from the published ones.",
                           fashion.low, fashion.high, digits.low, digits.high, to_fashion, to_digits)};
}

Judgement judge_precision(const Findings& findings) {
  std::map<std::string, Range> ranges;
  for (const TrainingRecord& each : findings.series<TrainingRecord>(kDigitTraining))
    widen(ranges, each.data, each.precision);
  const auto digits = ranges.find("digits");
  if (digits == ranges.end()) return {.facts = "The 5000 digits were not here."};
  const Range ours = digits->second;
  return {.verdict = judge_distance(gap(ours, kPrecisions), 0, 0.05),
          .here = fmt::format("{:.1f} % to {:.1f} %", 100 * ours.low, 100 * ours.high),
          .facts = fmt::format("From several first weights {:.1f} % to {:.1f} % are classified right.", 100 * ours.low,
                               100 * ours.high)};
}

Judgement judge_fast(const Findings& findings) {
  const auto digits = findings.find_line<FastRecord>(fmt::format("{}: digits", kDigitFast));
  if (!digits) return {.facts = "The 5000 digits were not here."};
  const std::size_t last = published::kFast.size() - 1;
  const double ours = series_of(*digits, &FastRecord::precision, last + 1)[last];
  return {.verdict = judge_distance(std::abs(ours - published::kFast.back().precision), 0.01, 0.03),
          .here = fmt::format("{:.2f} %", 100 * ours),
          .facts = fmt::format("After 300 iterations {:.2f} % are classified right.", 100 * ours)};
}

std::vector<ModeLine> trained_modes(const Findings& findings) {
  auto modes = findings.series<ModeRecord>(kDigitModes);
  std::erase_if(modes, [](const Result& each) { return short_name(each) == kPythonMode; });
  return modes;
}

}  // namespace

std::vector<Claim> digit_claims() {
  const auto& fast = published::kListings[1];
  return {{.id = "parallel-faster",
           .text = "Data-parallel training on MPI ranks is about 30 % faster than sequential training.",
           .published = fmt::format("{:.2f}×", published::kListings[0].total / fast.total),
           .label = "times as fast as sequential",
           .judge = judge_ranks},
          {.id = "loops-dominate",
           .text = "Loops over samples (cost and back propagation) take most of an iteration of the published program.",
           .published = fmt::format("{:.0f} %", 100 * (fast.forward.low + fast.back.low) / fast.iteration.low),
           .label = "share of cost and back propagation",
           .judge = judge_loops},
          {.id = "last-cost",
           .text = "60 iterations at rate 0.1 end at a cost near 3.21, whatever the first weights.",
           .published = fmt::format("{:.4f} to {:.4f}", kLastCosts.low, kLastCosts.high),
           .label = "cost of the last iteration",
           .judge = judge_costs},
          {.id = "fashion-mnist",
           .text = "The data are Fashion-MNIST, pooled to 20x20.",
           .published = fmt::format("{:.4f} to {:.4f}", kLastCosts.low, kLastCosts.high),
           .label = "cost of the last iteration",
           .judge = judge_data},
          {.id = "precision",
           .text = "After these 60 iterations 30 to 36 % of the training samples are classified right.",
           .published = fmt::format("{:.2f} % to {:.2f} %", 100 * kPrecisions.low, 100 * kPrecisions.high),
           .label = "samples classified right",
           .judge = judge_precision},
          {.id = "fast-rate",
           .text = "At rate 2.0, 300 iterations classify 94 % right (notes of the program's first author).",
           .published = fmt::format("{:.0f} %", 100 * published::kFast.back().precision),
           .label = "samples classified right",
           .judge = judge_fast},
          {.id = "same-weights",
           .text = "Sequential, threads, ranks and devices train the same weights, bit for bit.",
           .judge = [](const Findings& findings) { return judge_same_weights(trained_modes(findings)); }}};
}

}  // namespace lockstep::cli
