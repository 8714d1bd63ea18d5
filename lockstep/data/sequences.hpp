#pragma once
// Samples as sequences [features, steps].

#include <cstdint>
#include <string_view>

#include "lockstep/data/samples.hpp"

namespace lockstep {

/// Images as sequences: "rows" or "columns" are the steps; of several channels, those of each step lie behind each
/// other.
Samples image_steps(Samples samples, std::string_view steps);

/// Every sample with this many steps: shorter ones are padded, and their lengths tell where they end. Error(data) names
/// the first sample that is longer, Error(usage) samples that are no sequences.
Samples with_steps(Samples samples, std::int64_t steps, std::string_view name);

}  // namespace lockstep
