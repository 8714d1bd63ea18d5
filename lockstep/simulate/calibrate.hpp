#pragma once
// What one core of this machine needs for the sections of a step: measured by training steps of the network itself, in
// the sizes of chunks that ranks will have, or in the shapes that one rank of several has.

#include <cstdint>
#include <vector>

#include "lockstep/data/dataset.hpp"
#include "lockstep/simulate/rates.hpp"
#include "lockstep/simulate/step_plan.hpp"

namespace lockstep {

struct CalibrationOptions {
  double seconds = 0.3;  // to spend on each size of chunk, about
  int least = 5;         // repetitions of each size
};

/// The rates for all plans that have slots of the size of this one's and split layers among as many ranks
/// (parallel.tensor), each of which is measured. On the calling thread.
SectionRates measure_rates(const StepPlan& plan, const CalibrationOptions& options = {});

/// The chunks, in slots, that a rank of such a plan can have: 1, 2, 4, ... up to what runs together.
std::vector<std::int64_t> chunk_slots(const StepPlan& plan);

/// What one rank of several computes in a step, in the shapes that it has there: narrower layers, a stage, its share of
/// the slots. Measured by running the steps without waiting for other ranks. The rates of rank `rank` of `ranks` in
/// steps of the plan, the first not counted; on the calling thread. `samples` are those of make_step_samples. They make
/// up the time of the steps, so sections that count no work have a time per call.
SectionRates measure_own_work(const StepPlan& plan, const Dataset& samples, int rank, int ranks);

}  // namespace lockstep
