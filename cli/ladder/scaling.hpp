#pragma once
// Strong and weak scaling of a ladder: laws fitted to the times, the prediction from the spans beside them.

#include <string>
#include <vector>

#include "cli/ladder/measurement.hpp"

namespace lockstep::cli {

struct NamedFit {
  std::string name;  // "amdahl threads"
  FitRecord record{};
};

/// The measured speed-ups over threads, ranks and growing work, each with the laws fitted to them. A law that cannot be
/// fitted has a line that says why.
std::vector<NamedFit> scaling_fits(const LadderMeasurement& ladder);

}  // namespace lockstep::cli
