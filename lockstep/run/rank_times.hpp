#pragma once
// Where the time of several ranks goes, and which rank the others wait for.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lockstep/train/trainer.hpp"

namespace lockstep {

/// A rank whose own work takes clearly longer than that of the others.
struct Straggler {
  int rank = 0;
  double ratio = 1;  // its time for that work, to the median of the others
};

/// Looks for a straggler in all epochs so far, until there is one.
class StragglerWatch {
 public:
  /// The times of an epoch by rank, and its number of steps. Returns a straggler once, when there were enough steps and
  /// seconds to judge.
  std::optional<Straggler> add(const std::vector<PhaseTimes>& ranks, std::int64_t steps);

 private:
  std::vector<double> busy_;  // seconds by rank
  std::int64_t steps_ = 0;
  bool named_ = false;
};

/// Milliseconds per step and phase, for people: the mean over ranks, and the slowest rank. One line each.
std::vector<std::string> rank_time_lines(const std::vector<PhaseTimes>& ranks, std::int64_t steps);

}  // namespace lockstep
