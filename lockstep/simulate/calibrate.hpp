#pragma once
// What one core of this machine needs for the sections of a step: measured by training steps of the network itself, in
// the sizes of chunks that ranks will have.

#include <cstdint>
#include <vector>

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

}  // namespace lockstep
