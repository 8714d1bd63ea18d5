// What conv-multicore claims, judged by its results.

#include <map>

#include <fmt/format.h>

#include "cli/reproduce/conv_multicore/experiment.hpp"
#include "cli/reproduce/conv_multicore/published.hpp"
#include "lockstep/core/words.hpp"

namespace lockstep::cli {

namespace {

namespace published = conv_published;

/// The published speed-ups from one core, as far as this machine has processors for them. What it has none for keeps
/// the claim from holding in full.
Judgement judge_scaling(const std::vector<WorkersLine>& results, const char* workers) {
  if (results.empty()) return {.facts = fmt::format("No {}s were timed.", workers)};
  const int processors = results[0].origin.machine.processors;
  std::vector<ClaimVerdict> verdicts;
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
    judgement.facts += fmt::format("{}{} cannot be tested on {}.", judgement.facts.empty() ? "" : " ", beyond,
                                   count_of(processors, "processor"));
    if (judgement.verdict == ClaimVerdict::holds) judgement.verdict = ClaimVerdict::in_part;
  }
  return judgement;
}

/// Other software on as many threads.
Judgement judge_software(const Findings& findings) {
  const auto results = findings.series<SoftwareRecord>(kConvPeers);
  std::map<int, const SoftwareLine*> ours, best;
  for (const SoftwareLine& each : results) {
    if (each.version.empty()) {
      if (short_name(each).starts_with("SIMD")) ours[each.workers] = &each;
      continue;
    }
    if (const auto*& fastest = best[each.workers]; fastest == nullptr || median_of(each) < median_of(*fastest))
      fastest = &each;
  }
  std::vector<Judgement> parts;
  for (const auto& [threads, theirs] : best)
    if (const auto comparison = compare(theirs, ours.count(threads) > 0 ? ours[threads] : nullptr))
      parts.push_back({.verdict = comparison->verdict(),
                       .here = fmt::format("{:.3g}×", comparison->ratio),
                       .facts = fmt::format("On {} ours is {} as the fastest other, {}.", count_of(threads, "thread"),
                                            comparison->words(), short_name(*theirs))});
  return judge_together(parts, best.empty() ? "No other software was here." : "");
}

}  // namespace

std::optional<Comparison> conv_speed_up(const std::vector<WorkersLine>& results, int from, int to) {
  const auto on = [&](int workers) {
    return first_where(results, [&](const WorkersLine& each) { return each.workers == workers; });
  };
  return compare(on(from), on(to));
}

std::vector<Claim> conv_claims() {
  return {
      {.id = "threads",
       .text = "Convolution scales over the cores of a processor: 1.75 times as fast on 2 cores, 3.39 on 4, 6.02 on 8.",
       .published = "6.02× on 8",
       .label = "times as fast as on one core",
       .judge =
           [](const Findings& findings) {
             return judge_scaling(findings.series<WorkersRecord>(kConvThreads), "thread");
           }},
      {.id = "plain-loops",
       .text = "Plain loops, which are what the paper's program has, scale over the cores as well.",
       .published = "6.02× on 8",
       .label = "times as fast as on one core",
       .judge =
           [](const Findings& findings) {
             return judge_scaling(findings.series<WorkersRecord>(kConvNaive), "thread");
           }},
      {.id = "ranks",
       .text = "Processes (MPI ranks) scale as the paper's threads do.",
       .judge =
           [](const Findings& findings) { return judge_scaling(findings.series<WorkersRecord>(kConvRanks), "rank"); }},
      {.id = "software",
       .text = "No other software here computes the same convolution in less time on as many threads.",
       .judge = judge_software}};
}

}  // namespace lockstep::cli
