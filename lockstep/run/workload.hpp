#pragma once
// What one rank of a run trains: configuration, network, trainer and data.

#include <optional>
#include <string>

#include "lockstep/data/source.hpp"
#include "lockstep/model/model_info.hpp"
#include "lockstep/parallel/ranks.hpp"
#include "lockstep/run/train_run.hpp"

namespace lockstep {

struct Workload {
  /// Reads the configuration, makes network and trainer; the data are not loaded yet. Error(usage) names the line of
  /// what does not fit.
  Workload(const std::string& file, const RunOptions& options, Ranks& ranks);

  /// Loads the data and checks that network and trainer can use them.
  void load(RunObserver& observer);

  /// The data that the final weights are scored on: the test set; without a test and a validation set the training set,
  /// whose scores during training belong to earlier weights. Null: the last validation has scored the final weights.
  const Dataset* final_data() const;

  std::string backend_name() const;

  RunConfig config;
  Network network;
  Trainer trainer;
  DataSplits data{};
  ModelInfo info{};
};

}  // namespace lockstep
