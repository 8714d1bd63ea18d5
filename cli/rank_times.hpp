#pragma once
// Where the time of several ranks goes, and which of them holds the others up.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lockstep/train/trainer.hpp"

namespace lockstep::cli {

/// A rank whose own work takes clearly longer than that of the others.
struct Straggler {
  int rank = 0;
  double ratio = 1;  // its time for that work, to the median of the others
};
std::optional<Straggler> find_straggler(const std::vector<PhaseTimes>& ranks);

/// Milliseconds per step and phase, for people: the mean over ranks, and the slowest rank. One line each.
std::vector<std::string> rank_time_lines(const std::vector<PhaseTimes>& ranks, std::int64_t steps);

}  // namespace lockstep::cli
