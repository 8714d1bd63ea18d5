#pragma once
// Samples of tokens, where the network begins with an embedding.

#include <cstdint>
#include <span>

#include "lockstep/data/dataset.hpp"
#include "lockstep/nn/network.hpp"

namespace lockstep {

/// Error(usage), which names the sample and the step, where one of these samples has a token that the embedding has no
/// vector for.
void check_tokens(const Network& network, const Dataset& data, std::span<const std::int64_t> ids);

}  // namespace lockstep
