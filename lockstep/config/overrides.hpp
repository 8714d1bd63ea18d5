#pragma once
// --set section.key=value: changes to a configuration from the command line.

#include <string>
#include <vector>

#include "lockstep/config/value.hpp"

namespace lockstep {

/// Applies the assignments in order; the last one to a key wins. Missing tables are made; a string on the way becomes
/// {name = string}, so train.optimizer.lr=0.1 works on optimizer = "adam". Error(usage) for text that is no assignment
/// or leads through something that is no table.
void apply_overrides(Value& root, const std::vector<std::string>& overrides);

}  // namespace lockstep
