#pragma once
// Runs the steps of a plan under smpirun, in a folder of its own that is gone afterwards.

#include <string>
#include <vector>

#include "lockstep/simulate/machine_model.hpp"
#include "lockstep/simulate/platform.hpp"
#include "lockstep/simulate/rates.hpp"
#include "lockstep/simulate/step_plan.hpp"

namespace lockstep::cli {

/// What SimGrid needs of this machine. Error(usage) names the package that is missing.
struct Simulator {
  std::string smpirun, driver;
};
Simulator find_simulator();

struct SimulatedStep {
  std::vector<double> seconds{};       // of the steps, on the simulated clock; the slowest rank's
  double mean_seconds = 0;             // of all of them together, of the rank that took longest
  std::vector<double> work_seconds{};  // of a step, that each rank computes
  double messages = 0, bytes = 0;      // of a step, by all ranks
  std::string weight_hash{};           // of the trained weights; empty where the network is in parts
};

struct ClusterRun {
  ClusterSpec cluster{};
  int nodes = 1;
  std::vector<std::string> more{};  // further settings of SimGrid
  MachineModel model{};             // where the ranks are on real machines
  double timeout = 120;             // seconds
};

/// `rates` are those of every rank, or one for all. Error(resources) when the time is up.
SimulatedStep simulate_step(const Simulator& simulator, const StepPlan& plan, const std::vector<SectionRates>& rates,
                            const ClusterRun& run);

}  // namespace lockstep::cli
