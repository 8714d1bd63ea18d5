#pragma once
// Where each rank of a run is: its host, the processors that the launcher lets it use, and its threads.

#include <optional>
#include <string>
#include <vector>

#include "lockstep/parallel/launcher.hpp"
#include "lockstep/parallel/ranks.hpp"

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

}  // namespace lockstep
