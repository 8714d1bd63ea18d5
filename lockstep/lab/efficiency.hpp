#pragma once
// Why workers are not as fast together as they should be: the factors of the POP project, and the phase that costs
// most.

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace lockstep {

/// Where the time of one worker (a thread or a rank) went, in seconds.
struct WorkerTimes {
  double useful = 0;    // its own work
  double transfer = 0;  // talking to others: exchange, broadcast, gather; waiting for them included
  double wait = 0;      // at barriers, in the bubble of a pipeline
};

/// Each factor is a share of 1; parallel = load_balance x communication, communication = serialisation x transfer.
struct PopFactors {
  double load_balance = 1;   // mean useful / most useful
  double communication = 1;  // most useful / time
  double transfer = 1;       // what would be left without the time that even the quickest worker spends talking
  double serialisation = 1;  // the rest: waiting for each other in turn
  double parallel = 1;
};

/// Nothing without workers or without useful time. `transfer` is an estimate: POP takes it from a replay on an ideal
/// network; here every worker's least time in exchanges stands for it.
std::optional<PopFactors> pop_factors(const std::vector<WorkerTimes>& workers);

/// What a rung spent its time on, as shares of its time (mean over workers), and how near it came to the machine.
struct RungShares {
  std::map<std::string, double> phases{};  // "wait", "reduce", "exchange", "launch", "load", "0 conv2d forward", ...
  double flops_share = 0;                  // of the machine's arithmetic peak
  double bandwidth_share = 0;              // of the machine's memory bandwidth
  std::string slowest_section{};           // the layer and phase with most time
};

struct Limit {
  std::string what;  // "memory", "barrier wait", "reduction", "exchange", "serial part", "launch overhead", "load",
                     // "arithmetic", "kernels"
  std::string sentence;
};

/// What limits a rung, in plain words.
Limit find_limit(const RungShares& shares);

}  // namespace lockstep
