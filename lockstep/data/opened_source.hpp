#pragma once
// The first half of load_data: from a description to stored samples, before scaling and splitting.

#include <memory>
#include <string_view>

#include "lockstep/data/memory_dataset.hpp"
#include "lockstep/data/samples.hpp"
#include "lockstep/data/source.hpp"

namespace lockstep {

struct OpenedSource {
  std::shared_ptr<const StoredDataset> train, test /* may be null */;
};

/// Reads, generates or (stream) opens what config.source names, shaped by config.shape, transpose and resize.
OpenedSource open_source(const DataConfig& config);

/// Applies config.shape, transpose and resize, checks the counts and makes the data set. `name` is the file.
std::shared_ptr<const StoredDataset> finish_samples(Samples samples, const DataConfig& config, std::string_view name);

/// Sources that are files or folders (opened_source.cpp does the rest).
OpenedSource open_path(const DataConfig& config);

}  // namespace lockstep
