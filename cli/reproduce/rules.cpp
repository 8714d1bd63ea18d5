#include "cli/reproduce/rules.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace lockstep::cli {

namespace {

using report::Rule;

/// What a count of exceptions says of a rule.
Rule rule_with(std::string rule, int exceptions, int all, const char* otherwise, const std::string& kept) {
  if (exceptions == 0) return {Rule::State::kept, std::move(rule), kept};
  return {exceptions < all ? Rule::State::partly : Rule::State::broken, std::move(rule),
          fmt::format("{} of {} {}", exceptions, all, otherwise)};
}

}  // namespace

report::Checklist rules_kept(const Findings& findings) {
  int timed = 0, few = 0, unsettled = 0, warned = 0;
  for (const Result& each : findings.all()) {
    if (each.kind != "measurement" || each.samples.empty()) continue;
    ++timed;
    few += each.summary()->interval ? 0 : 1;
    unsettled += std::any_of(each.warnings.begin(), each.warnings.end(),
                             [](const std::string& warning) { return warning.starts_with("not settled"); })
                     ? 1
                     : 0;
    warned += std::any_of(each.warnings.begin(), each.warnings.end(),
                          [](const std::string& warning) { return !warning.starts_with("not settled"); })
                  ? 1
                  : 0;
  }
  report::Checklist list{.title = "Rules of measuring (Hoefler and Belli, 2015), kept and not kept"};
  list.rules = {
      rule_with("Medians with non-parametric 95 % intervals, no bare means", few, timed,
                "have fewer than 6 samples: no 95 % interval is shown for them",
                "order statistics; averages stand only beside published averages"),
      rule_with("Repeated until the interval is within the stated share of the median", unsettled, timed,
                "ran into their budget or their most samples first", "or as many runs as were published"),
      {Rule::State::kept, "Variants interleaved",
       "in turns, series by series; what starts anew for every sample (ranks, trainings of their own) in rounds"},
      {Rule::State::kept, "Warm-up not counted", "one run of every variant"},
      {Rule::State::kept, "Every sample kept", "results.jsonl"},
      {Rule::State::kept, "Every speed-up names its baseline", "the row marked so, or the head of the column"},
      {Rule::State::kept, "The slowest rank counts", ""},
      rule_with("A quiet machine", warned, timed, "were taken under a warning of lockstep doctor",
                "lockstep doctor had no warning"),
      {Rule::State::not_applicable, "Not measured",
       "what is marked published; energy; start-up and reading of data; other machines"}};
  return list;
}

}  // namespace lockstep::cli
