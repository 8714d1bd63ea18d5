#pragma once
// The halves of load_data: from a description to stored samples, before scaling; and which samples belong to the
// training, validation and test part.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lockstep/core/error.hpp"
#include "lockstep/data/memory_dataset.hpp"
#include "lockstep/data/samples.hpp"
#include "lockstep/data/source.hpp"

namespace lockstep {

struct OpenedSource {
  std::shared_ptr<const StoredDataset> train, test /* may be null */;
  std::vector<std::string> class_names;  // empty: classes have numbers only
  bool named_labels = false;             // as in DataSplits
  std::string label_column, label_rule;  // as in DataSplits
  std::string layout;                    // as in DataSplits
  ResizeConfig resize;                   // as in DataSplits
  bool regression = false;
  std::string characters;  // as in DataSplits
  std::optional<TablePlan> table;
  bool missing = false;    // features hold NaN, where numbers are missing
  bool regrouped = false;  // features are not the inputs of the table one by one
  std::vector<std::string> notes;
};

/// What a message about a setting of [data] begins with: "run.toml:3: data.split", or "data" where the place is
/// unknown.
std::string setting_place(const DataConfig& config, const std::string& key);

/// Throws Error(usage) with `message` and the place of the key in the configuration unless `condition` holds.
void require_setting(bool condition, const DataConfig& config, const std::string& key, std::string_view message);

/// Throws the error with the place of the setting in front, unless it has one or is a fault of ours.
[[noreturn]] void rethrow_at(const DataConfig& config, const std::string& key, const Error& error);

/// Runs `action`; its errors about files and settings get the place of the setting in front, unless they have one.
template <class Action>
auto at_setting(const DataConfig& config, const std::string& key, const Action& action) {
  try {
    return action();
  } catch (const Error& error) {
    rethrow_at(config, key, error);
  }
}

/// Reads, generates or (stream) opens what config.source names, shaped by config.shape, layout, transpose and resize.
OpenedSource open_source(const DataConfig& config, DataUse use, const TrainedData& trained = {});

/// Applies config.shape, layout, transpose and resize, checks the counts and makes the data set. `name` is the file.
/// `missing`: features may be NaN, to be filled later.
std::shared_ptr<const StoredDataset> finish_samples(Samples samples, const DataConfig& config, std::string_view name,
                                                    bool missing = false);

/// Whether samples are stored with their channels last; Error(usage) for a layout that is unknown.
bool is_channels_last(const DataConfig& config);

/// Sources that are files or folders (path_source.cpp).
OpenedSource open_path(const DataConfig& config, DataUse use, const TrainedData& trained);

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
