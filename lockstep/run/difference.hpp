#pragma once
// What differs first between a run and the same run computed again, in words: "there" is what the run claims, "here"
// what was computed. Everything is compared bit by bit; "" where nothing differs.

#include <string>
#include <string_view>
#include <vector>

#include "lockstep/model/checkpoint.hpp"

namespace lockstep {

std::vector<std::string> lines_of(std::string_view text);

/// Of two lines of metrics.jsonl that differ: "train.loss is 0.1 there and 0.2 here".
std::string line_difference(const std::string& claimed, const std::string& computed);

/// "the weight 0.weight[3] is 0.5 there and 0.25 here", by the names of the parameters that `network` has.
std::string values_difference(const Network& network, const std::string& what, const ParameterValues& claimed,
                              const ParameterValues& computed);

/// Weights, the optimiser's vectors, and the sums of the epoch under way.
std::string state_difference(const Checkpoint& claimed, const Checkpoint& computed);

}  // namespace lockstep
