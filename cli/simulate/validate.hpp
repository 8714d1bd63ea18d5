#pragma once
// How far simulated steps are from real ones, on as many ranks as this machine (or the hosts given) can run.

#include <optional>

#include "cli/simulate/document.hpp"
#include "cli/simulate/real_ranks.hpp"

namespace lockstep::cli {

struct ValidationPoint {
  std::string series{};
  int ranks = 2;
  RealSteps real{};
  double simulated = 0, work = 0;   // seconds of a step
  std::optional<bool> same_bits{};  // nothing where the network is in parts
};

/// Steps of a round: its seconds are those of a step, the mean of these.
inline constexpr int kRealSteps = 15;

/// Every way of the study on every number of ranks that it allows; calls `ends` with each point.
void validate(const Study& study, const Simulator& simulator, const MpirunOptions& launch, Console& console,
              const std::function<void(const ValidationPoint&)>& ends);

// The points as lines of results.jsonl (docs/results.md), and as a report made from them.

Result validation_result(const Study& study, const ValidationPoint& point, const StudyNames& names,
                         const ResultOrigin& origin);

/// Error(data) where a line lacks what simulate writes.
report::Document validation_document(std::span<const Result> results);

}  // namespace lockstep::cli
