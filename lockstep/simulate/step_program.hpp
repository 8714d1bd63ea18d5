#pragma once
// What every rank of a step plan does: the trainer itself, on samples made of random numbers. Which clock it looks at,
// and whether its work has to be charged, tells a simulated rank from a real one.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lockstep/data/dataset.hpp"
#include "lockstep/lab/profile.hpp"
#include "lockstep/parallel/ranks.hpp"
#include "lockstep/simulate/step_plan.hpp"

namespace lockstep {

/// As many samples as the plan's steps need, of the network's shape; few of them differ. Ranks of one process share it.
std::shared_ptr<const Dataset> make_step_samples(const StepPlan& plan);

struct StepClock {
  std::function<double()> seconds;
  SectionCharge* charge = nullptr;  // null: work takes its own time
  Profile* profile = nullptr;       // where spans are kept; null: nowhere
};

/// What one rank saw.
struct StepTimes {
  std::vector<double> ends{};  // of each step, the one before them included; on the clock of this rank
  std::string weight_hash{};   // after the last; rank 0 of the ranks, where the network is not in parts
};

/// Together with all other ranks.
StepTimes run_steps(const StepPlan& plan, const Dataset& samples, Ranks& ranks, const StepClock& clock);

/// Seconds of every step that counts, as the slowest rank has it. A rank that ends one step late and the next in time
/// makes both look long where others are in time: for single steps only.
std::vector<double> step_seconds(const std::vector<StepTimes>& ranks);
/// Their mean: all the steps that count, of the rank that took longest for them.
double mean_step_seconds(const std::vector<StepTimes>& ranks);

}  // namespace lockstep
