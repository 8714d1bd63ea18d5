#pragma once
// Where each rank of a run is: its host, the processors that the launcher lets it use, and its threads. And where the
// time of several ranks goes, and which rank the others wait for.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lockstep/parallel/launcher.hpp"
#include "lockstep/parallel/ranks.hpp"
#include "lockstep/train/trainer.hpp"

namespace lockstep {

struct RankPlace {
  std::string host;
  std::string cpus;   // allowed: "0-3,8"
  int cpu_count = 0;  // number of `cpus`
  int host_cpus = 0;  // of the whole host
  int threads = 1;
};

/// All ranks call it with their own number of threads; each gets the places of all, by rank.
std::vector<RankPlace> gather_places(Ranks& ranks, int threads);

/// "rank 1 on n2: 2 threads, may use cpus 0-1 (2 of 8)", a line per rank.
std::vector<std::string> rank_map(const std::vector<RankPlace>& places);

/// A line with the cure when the launcher has bound a rank to fewer processors than it has threads.
std::optional<std::string> binding_note(const std::vector<RankPlace>& places, const std::optional<Launcher>& launcher);

/// Whether the ranks together have more threads than processors: their times cannot be compared then.
bool is_oversubscribed(const std::vector<RankPlace>& places);

/// {0, 1, 2, 5} -> "0-2,5"
std::string number_ranges(const std::vector<int>& ascending);

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
