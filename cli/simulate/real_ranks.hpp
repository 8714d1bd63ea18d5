#pragma once
// The steps of a plan on real ranks, and what their messages take: what a simulation is compared with.

#include <string>
#include <vector>

#include "cli/output/console.hpp"
#include "cli/process/mpirun.hpp"
#include "lockstep/simulate/machine_model.hpp"
#include "lockstep/simulate/rates.hpp"
#include "lockstep/simulate/step_plan.hpp"

namespace lockstep::cli {

struct RealSteps {
  std::vector<double> seconds{};         // of a step, of the slowest rank; the mean of each round
  MachineModel model{};                  // the ranks' machines, messages and naps
  std::vector<SectionRates> rates{};     // of every rank's own work
  std::string weight_hash{}, library{};  // the hash after the simulated part
};

/// The first steps of the plan: a simulation of them says as much as one of all, for its steps are alike.
StepPlan simulated_part(StepPlan plan);

/// Starts mpirun (launch.hosts, launch.agent and launch.mpi say how) and waits for its end; Error(resources) when that
/// takes longer than `timeout` seconds.
RealSteps measure_real_steps(const StepPlan& plan, int ranks, const MpirunOptions& launch, double timeout);

/// One of those ranks: does what the file says and, rank 0, writes the result.
void run_real_rank(const std::string& plan_file, const std::string& result_file, Console& console);

}  // namespace lockstep::cli
