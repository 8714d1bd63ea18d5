#pragma once
// Trainings on one data set that are timed in turns: a sample is an epoch.

#include <memory>
#include <string>
#include <vector>

#include "cli/reproduce/rungs.hpp"
#include "cli/reproduce/timing.hpp"
#include "lockstep/data/dataset.hpp"
#include "lockstep/train/trainer.hpp"

namespace lockstep::cli {

class TrainingContest {
 public:
  TrainingContest(const ExperimentRun& run, std::shared_ptr<const Dataset> data) : run_(run), data_(std::move(data)) {}

  /// Trains the first epoch, whose weights are those of the line; its fields are those of KernelRecord. A training that
  /// cannot be done here is left out. The variant, for more fields and its baseline; null: left out.
  Variant* add(const std::string& name, Network network, const TrainOptions& options);
  /// A variant of another program.
  void add(Variant variant) { variants_.push_back(std::move(variant)); }

  void time(const std::string& series, const SamplingRule& rule) const { time_variants(run_, series, variants_, rule); }

 private:
  struct Training {
    Network network;
    Trainer trainer;
    Training(Network start, const TrainOptions& options) : network(std::move(start)), trainer(network, options) {}
  };

  const ExperimentRun& run_;
  std::shared_ptr<const Dataset> data_;
  std::vector<std::unique_ptr<Training>> trainings_{};
  std::vector<Variant> variants_{};
};

}  // namespace lockstep::cli
