#pragma once
// Which samples of one set belong to the training, validation and test part.

#include <cstdint>
#include <string>
#include <vector>

#include "lockstep/data/source.hpp"

namespace lockstep {

struct SplitParts {
  std::vector<std::int64_t> train, validation, test;
  std::vector<std::string> notes;
};

/// Divides the first `samples` samples of `data`:
///   plain       consecutive samples, in the order train, validation, test
///   shuffled    the same of permutation(seed, Purpose::split)
///   stratified  every part has its share of every class, to within one sample: within its class the r-th sample of n
///               (of the permutation, if shuffled) stands at (2 r + 1) / (2 n); the parts are consecutive samples by
///               that place, equal ones in the order of the permutation, and each part then keeps the order of the
///               permutation
/// Error(usage), with the place of data.split, when the parts do not fit. Training data: Error(data) when a class is in
/// no sample of the training part of a file; notes name classes that are rare there or absent from another part, and
/// samples that no part uses.
SplitParts divide(const DataConfig& config, const Dataset& data, std::int64_t samples, DataUse use);

}  // namespace lockstep
