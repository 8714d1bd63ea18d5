#pragma once
// How far simulated steps are from real ones, on as many ranks as this machine (or the hosts given) can run.

#include <optional>

#include "cli/simulate/real_ranks.hpp"
#include "cli/simulate/study.hpp"

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

/// A cluster that is like these machines: ranks share their cores, and a message between two hosts takes the network
/// what it took beyond the processors' part in it, or what the study was given.
ClusterRun calibrated_cluster(const MachineModel& model, const Study& study);

/// Every way of the study on every number of ranks, where it can be; `ends` hears of each.
void validate(const Study& study, const Simulator& simulator, const MpirunOptions& launch, Console& console,
              const std::function<void(const ValidationPoint&)>& ends);

}  // namespace lockstep::cli
