// What conv-multicore claims, judged by its results.

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "cli/reproduce/conv_multicore/experiment.hpp"
#include "cli/reproduce/conv_multicore/published.hpp"

namespace lockstep::cli {

namespace {

namespace published = conv_published;

/// The published speed-ups from one core, as far as this machine has processors for them. What it has none for keeps
/// the claim from holding in full.
Judgement judge_scaling(const std::vector<const Result*>& results, const char* workers) {
  if (results.empty()) return {.facts = fmt::format("No {}s were timed.", workers)};
  const int processors = results[0]->origin.machine.processors;
  std::vector<Verdict> verdicts;
  Judgement judgement;
  std::string beyond;
  for (const published::SpeedUp& each : published::kSpeedUps) {
    if (each.from != 1) continue;
    if (each.to > processors) {
      beyond += fmt::format("{}{}", beyond.empty() ? "" : " and ", each.to);
      continue;
    }
    const Judgement one =
        judge_speed_up(each.value, conv_speed_up(results, 1, each.to), fmt::format("{} {}s are", each.to, workers));
    if (one.here.empty()) continue;
    verdicts.push_back(one.verdict);
    judgement.facts += fmt::format("{}{}", judgement.facts.empty() ? "" : " ", one.facts);
    judgement.here = fmt::format("{} on {}", one.here, each.to);
    judgement.published = fmt::format("{:.2f}× on {}", each.value, each.to);
  }
  judgement.verdict = judge_together(verdicts);
  if (!beyond.empty()) {
    judgement.facts += fmt::format("{}{} cannot be tested on {} processor{}.", judgement.facts.empty() ? "" : " ",
                                   beyond, processors, processors == 1 ? "" : "s");
    if (judgement.verdict == Verdict::holds) judgement.verdict = Verdict::in_part;
  }
  return judgement;
}

/// Other software on as many threads.
Judgement judge_software(const Findings& findings) {
  const auto results = findings.series(kConvPeers);
  std::map<int, const Result*> ours, best;
  for (const Result* each : results) {
    const int threads = workers_of(*each);
    if (each->word("version").empty()) {
      if (short_name(*each).starts_with("SIMD")) ours[threads] = each;
      continue;
    }
    if (const Result*& fastest = best[threads]; fastest == nullptr || median_of(*each) < median_of(*fastest))
      fastest = each;
  }
  std::vector<Verdict> verdicts;
  Judgement judgement{.facts = best.empty() ? "No other software was here." : ""};
  for (const auto& [threads, theirs] : best) {
    const auto comparison = compare(theirs, ours.count(threads) > 0 ? ours[threads] : nullptr);
    if (!comparison) continue;
    verdicts.push_back(comparison->faster()   ? Verdict::holds
                       : comparison->slower() ? Verdict::fails
                                              : Verdict::not_shown);
    judgement.here += fmt::format("{}{:.3g}×", judgement.here.empty() ? "" : " and ", comparison->ratio);
    judgement.facts +=
        fmt::format("{}On {} thread{} ours is {} as the fastest other, {}.", judgement.facts.empty() ? "" : " ",
                    threads, threads == 1 ? "" : "s", comparison->words(), short_name(*theirs));
  }
  judgement.verdict = judge_together(verdicts);
  return judgement;
}

}  // namespace

int workers_of(const Result& result) {
  return static_cast<int>(std::clamp(result.number("workers").value_or(1), 0.0, 1e6));  // a file may claim anything
}

std::optional<Comparison> conv_speed_up(const std::vector<const Result*>& results, int from, int to) {
  const auto on = [&](int workers) -> const Result* {
    const auto found =
        std::find_if(results.begin(), results.end(), [&](const Result* each) { return workers_of(*each) == workers; });
    return found == results.end() ? nullptr : *found;
  };
  return compare(on(from), on(to));
}

std::vector<Claim> conv_claims() {
  return {
      {.id = "threads",
       .text = "Convolution scales over the cores of a processor: 1.75 times as fast on 2 cores, 3.39 on 4, 6.02 on 8.",
       .published = "6.02× on 8",
       .label = "times as fast as on one core",
       .judge = [](const Findings& findings) { return judge_scaling(findings.series(kConvThreads), "thread"); }},
      {.id = "plain-loops",
       .text = "Plain loops, which are what the paper's program has, scale over the cores as well.",
       .published = "6.02× on 8",
       .label = "times as fast as on one core",
       .judge = [](const Findings& findings) { return judge_scaling(findings.series(kConvNaive), "thread"); }},
      {.id = "ranks",
       .text = "Processes (MPI ranks) scale as the paper's threads do.",
       .published = "",
       .label = "",
       .judge = [](const Findings& findings) { return judge_scaling(findings.series(kConvRanks), "rank"); }},
      {.id = "software",
       .text = "No other software here computes the same convolution in less time on as many threads.",
       .published = "",
       .label = "",
       .judge = judge_software}};
}

}  // namespace lockstep::cli
