#pragma once
// A fingerprint of the data a run trains on: resuming with other samples would be another run.

#include <string>

#include "lockstep/data/source.hpp"

namespace lockstep {

/// SHA-256, in hex, over the samples of training, validation and test in the order of their ids: for each part whether
/// it is there, its size, shape, classes and target size, then block by block the features (Dataset::hash_features: as
/// they are stored, and how they are scaled), the labels, and the targets in float64. It reads every sample, at the
/// speed of SHA-256 over their bytes in memory: 0.04 s for Fashion-MNIST where the processor has instructions for it.
std::string data_digest(const DataSplits& data);

}  // namespace lockstep
