#pragma once
// A fingerprint of the data a run trains on: resuming with other samples would be another run.

#include <string>

#include "lockstep/data/source.hpp"
#include "lockstep/tensor/shape.hpp"

namespace lockstep {

/// SHA-256, in hex, over what training, validation and test see of their samples, in the order of the ids: for each
/// part whether it is there, its size, shape, classes and target size, then block by block the features (as gathered,
/// in this precision), labels and targets. It reads every sample: a few tenths of a second per gigabyte.
std::string data_digest(const DataSplits& data, Precision precision);

}  // namespace lockstep
