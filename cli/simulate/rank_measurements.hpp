#pragma once
// What real ranks measure of themselves and of each other, so that they can be simulated: where they are, what messages
// and naps take, and every rank's own work. All ranks call these functions together.

#include <vector>

#include "lockstep/data/dataset.hpp"
#include "lockstep/parallel/ranks.hpp"
#include "lockstep/simulate/machine_model.hpp"
#include "lockstep/simulate/rates.hpp"
#include "lockstep/simulate/step_plan.hpp"

namespace lockstep::cli {

/// Machine, cores and host of every rank; no times yet. Hosts of one machine (namespaces, containers) share its cores.
MachineModel locate_ranks(Ranks& ranks);

/// Each rank stays on one core, in turn: the system could move it in the middle of a step otherwise.
void bind_to_core(const Ranks& ranks, const MachineModel& model);

/// What pairs of ranks on one host, and on two, take to swap messages: the model's `local` and `remote`. No more pairs
/// at once than cores for them. Valid on rank 0.
void measure_messages(Ranks& ranks, MachineModel& model);

/// A rank's nap while others compute: the model's `nap`. Valid on rank 0.
void measure_naps(Ranks& ranks, MachineModel& model);

/// The medians of models that were measured several times.
MachineModel median_model(const std::vector<MachineModel>& rounds);

/// Every rank's work in the steps of the plan, by rank. As many ranks of a machine at once as it has cores.
std::vector<SectionRates> measure_work(Ranks& ranks, const MachineModel& model, const StepPlan& plan,
                                       const Dataset& samples);

}  // namespace lockstep::cli
