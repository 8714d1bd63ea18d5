#pragma once
// Where the time of a rung goes, from the phases of its ranks and the spans of its threads.

#include "cli/ladder/measurement.hpp"
#include "lockstep/lab/efficiency.hpp"

namespace lockstep::cli {

/// The peak that a rung is compared with: of one processor, or of all.
struct RungCeiling {
  double flops = 0, bandwidth = 0;
};
RungCeiling ceiling_of(const Rung& rung, const CeilingsRecord& ceilings);

/// What limits a rung that computes so fast.
Limit limit_of(const RungMeasurement& measured, const CeilingsRecord& ceilings, double flops_per_second);

/// The POP factors of a rung with several workers; nothing where no phases are known.
std::optional<PopFactors> pop_factors_of(const RungMeasurement& measured);

}  // namespace lockstep::cli
