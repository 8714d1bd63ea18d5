#pragma once
// Where the ranks of a run are: the host, the processors the launcher lets each of them use, and its threads.

#include <optional>
#include <string>
#include <vector>

#include "lockstep/parallel/launcher.hpp"
#include "lockstep/parallel/ranks.hpp"

namespace lockstep {

struct RankPlace {
  std::string host;
  std::string cpus;   // "0-3,8": those it may use
  int cpu_count = 0;  // how many these are
  int host_cpus = 0;  // how many the host has
  int threads = 1;
};

/// All ranks call it with their own number of threads; each gets the places of all, by rank.
std::vector<RankPlace> gather_places(Ranks& ranks, int threads);

/// "rank 1 on n2: 2 threads, may use cpus 0-1 (2 of 8)", a line per rank.
std::vector<std::string> rank_map(const std::vector<RankPlace>& places);

/// A line with the cure where the launcher has bound a rank to fewer processors than it has threads.
std::optional<std::string> binding_note(const std::vector<RankPlace>& places, const std::optional<Launcher>& launcher);

/// Whether ranks have more threads together than there are processors for them: their times say nothing of each other.
bool is_oversubscribed(const std::vector<RankPlace>& places);

/// {0, 1, 2, 5} -> "0-2,5"
std::string number_ranges(const std::vector<int>& ascending);

}  // namespace lockstep
