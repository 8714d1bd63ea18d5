#pragma once
// The first half of load_data: from a description to stored samples, before scaling and splitting.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lockstep/data/memory_dataset.hpp"
#include "lockstep/data/samples.hpp"
#include "lockstep/data/source.hpp"

namespace lockstep {

struct OpenedSource {
  std::shared_ptr<const StoredDataset> train, test /* may be null */;
  std::vector<std::string> class_names;  // empty: classes have numbers only
};

/// A condition on the settings of [data]: where it does not hold the user is told `message`.
void require_setting(bool condition, std::string_view message);

/// Reads, generates or (stream) opens what config.source names, shaped by config.shape, transpose and resize.
OpenedSource open_source(const DataConfig& config);

/// Applies config.shape, transpose and resize, checks the counts and makes the data set. `name` is the file.
std::shared_ptr<const StoredDataset> finish_samples(Samples samples, const DataConfig& config, std::string_view name);

/// Sources that are files or folders (path_source.cpp).
OpenedSource open_path(const DataConfig& config);

}  // namespace lockstep
