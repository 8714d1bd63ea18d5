#include <algorithm>

#include <fmt/format.h>

#include "cli/ladder/analysis.hpp"
#include "lockstep/lab/statistics.hpp"

namespace lockstep::cli {

namespace {

using report::Rule;
using State = report::Rule::State;

/// Turns of a rung that follow directly on one of its own although other rungs had turns left.
std::int64_t turns_in_a_row(const std::vector<RungMeasurement>& rungs) {
  std::int64_t found = 0;
  for (const RungMeasurement& each : rungs)
    for (std::size_t i = each.sampled.warm_up.size() + 1; i < each.turns.size(); ++i) {
      const bool others = std::any_of(rungs.begin(), rungs.end(), [&](const RungMeasurement& other) {
        return &other != &each && !other.turns.empty() && other.turns.back() > each.turns[i];
      });
      found += others && each.turns[i] == each.turns[i - 1] + 1;
    }
  return found;
}

/// Samples that do not begin with a warm-up: an epoch before, in the same process.
bool is_cold(const RungMeasurement& each) {
  return each.rung.is_peer() ? each.sampled.warm_up.empty() : each.last.warm_up_epochs == 0;
}

/// Turns whose sample is not among the results.
std::int64_t lost_samples(const RungMeasurement& each) {
  return std::ssize(each.turns) - std::ssize(each.sampled.warm_up) - std::ssize(each.sampled.samples);
}

/// Whether the time of the last turn is that of its slowest rank, and all ranks were heard.
bool is_of_slowest(const RungMeasurement& each) {
  double slowest = 0;
  for (const PhaseSeconds& rank : each.last.ranks)
    if (const auto total = rank.find("total"); total != rank.end()) slowest = std::max(slowest, total->second);
  return std::ssize(each.last.ranks) == each.rung.ranks && each.last.seconds == slowest;
}

Rule rule_with(std::string rule, std::int64_t exceptions, std::int64_t all, std::string kept, std::string otherwise) {
  if (all == 0) return {State::not_applicable, std::move(rule), "nothing of that kind was measured"};
  if (exceptions == 0) return {State::kept, std::move(rule), std::move(kept)};
  return {exceptions < all ? State::partly : State::broken, std::move(rule), std::move(otherwise)};
}

}  // namespace

std::vector<Rule> ladder_rules(const LadderMeasurement& ladder, const LadderArguments& arguments,
                               std::size_t warnings) {
  std::int64_t settled = 0, scaled = 0, few = 0, cold = 0, lost = 0, samples = 0, many_ranks = 0, not_slowest = 0;
  double explained = 1;
  bool serial_base = false;
  for (const RungMeasurement& each : ladder.rungs) {
    settled += each.sampled.settled();
    few += summarise(each.sampled.samples).interval ? 0 : 1;
    scaled += each.samples < ladder.epoch_samples;
    cold += is_cold(each);
    lost += lost_samples(each);
    samples += std::ssize(each.sampled.samples);
    many_ranks += each.rung.ranks > 1;
    not_slowest += each.rung.ranks > 1 && !is_of_slowest(each);
    serial_base |= each.rung.id == "naive";
    if (each.profile) explained = std::min(explained, each.profile->explained);
  }
  const auto count = std::ssize(ladder.rungs);
  const std::int64_t in_a_row = turns_in_a_row(ladder.rungs);
  return {
      {serial_base ? State::kept : State::partly, "Every speed-up names its baseline",
       serial_base ? "plain serial loops (naive) and the best serial rung (simd, 1 thread)" : "naive was not measured"},
      {few == 0 ? State::kept : State::partly, "Medians with non-parametric 95 % intervals, no bare means",
       few == 0 ? "order statistics of all samples"
                : fmt::format("{} of {} rungs have fewer than {} samples: no interval is shown for them; a larger "
                              "--budget takes more",
                              few, count, kLeastForInterval)},
      {settled == count ? State::kept
       : settled > 0    ? State::partly
                        : State::broken,
       "Repeated until the interval is within the stated share of the median",
       fmt::format("{} of {} rungs within {:.0f} %; the others ran into the budget of {:.0f} s or the limit of samples",
                   settled, count, 100 * arguments.share, arguments.budget)},
      rule_with("Variants interleaved", in_a_row, count > 1 ? samples : 0, "round after round, every rung once",
                fmt::format("{} of {} turns follow a turn of the same rung", in_a_row, samples)),
      rule_with("Warm-up not counted", cold, count, "the first epoch of every process",
                fmt::format("{} of {} rungs had none", cold, count)),
      rule_with("Every sample kept", lost, samples + lost, "results.jsonl",
                fmt::format("{} of {} turns have no sample in results.jsonl", lost, samples + lost)),
      rule_with("The slowest rank counts", not_slowest, many_ranks, "the longest epoch of all ranks",
                fmt::format("not for {} of {} rungs with several ranks", not_slowest, many_ranks)),
      {scaled == 0 ? State::kept : State::partly, "The whole of the work measured",
       scaled == 0 ? ""
                   : fmt::format("{} of {} rungs on a part of the epoch, scaled; the table says on how many samples",
                                 scaled, count)},
      {explained >= 0.98 ? State::kept : State::broken, "Spans explain the time",
       fmt::format("at least {:.2f} % of every rung", 100 * explained)},
      {warnings == 0 ? State::kept : State::broken, "A quiet machine",
       warnings == 0 ? "lockstep doctor has no warning" : fmt::format("{} warnings of lockstep doctor", warnings)},
      {State::not_applicable, "Not measured",
       "start-up, reading of data, validation and saving (an epoch is timed from gathering the samples of a batch to "
       "the optimiser's step); energy, other machines, larger data sets, the time to a given accuracy"}};
}

}  // namespace lockstep::cli
