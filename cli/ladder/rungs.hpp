#pragma once
// The rungs of the ladder: who trains, with how many workers.

#include <string>
#include <vector>

#include "lockstep/lab/record.hpp"

namespace lockstep::cli {

enum class RungGroup { naive, library, simd, threads, ranks, hybrid, device, peer, weak };

struct Rung {
  std::string id;     // "threads-2": what --rungs names
  std::string title;  // "SIMD kernels, 2 threads"
  RungGroup group = RungGroup::simd;
  std::string backend = "simd";  // of a peer: "torch" or "jax"
  std::string variant{};         // of a peer: "eager", "compile", "scan"
  int threads = 1, ranks = 1;
  int growth = 1;  // weak scaling: factor of the batch and of the samples
  int workers() const { return threads * ranks; }
  bool is_peer() const { return group == RungGroup::peer; }
};

/// All rungs that a machine with `processors` could have, from the slowest up. Whether they run here shows when
/// they are tried.
std::vector<Rung> all_rungs(int processors, const std::vector<std::string>& backends);

/// Those named: by id, by the beginning of one ("threads", "ranks"), or by group. None named: all. "threads-4",
/// "ranks-4", "hybrid-2x2" and "weak-4" may be named on machines with fewer processors too. Error(usage) for a name
/// that fits nothing.
std::vector<Rung> chosen_rungs(std::vector<Rung> all, const std::vector<std::string>& names);

/// Workers share the samples, so they get samples in proportion to their number: an epoch takes them as long as one
/// thread, and a disturbance of the same length has the same weight.
int share_of(const Rung& rung, int processors);

struct LeftOutRung {
  Rung rung{};
  std::string why;
};
/// Groups that none of the rungs belongs to because they need more processors.
std::vector<LeftOutRung> missing_groups(const std::vector<Rung>& rungs, int processors);

}  // namespace lockstep::cli

template <>
inline constexpr std::array lockstep::kNames<lockstep::cli::RungGroup> = {
    "naive", "library", "simd", "threads", "ranks", "hybrid", "device", "peer", "weak"};
