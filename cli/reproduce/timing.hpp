#pragma once
// Times of several variants, taken in turns, with every sample in results.jsonl.

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cli/output/json.hpp"
#include "cli/reproduce/experiment.hpp"
#include "cli/reproduce/rungs.hpp"
#include "lockstep/data/dataset.hpp"
#include "lockstep/lab/sampling.hpp"
#include "lockstep/train/trainer.hpp"

namespace lockstep::cli {

struct Variant {
  Result line{};                     // its name, its fields and its weights; kind "measurement"
  std::function<void()> body{};      // what is timed
  std::string baseline{};            // of its speed-up: the name of a variant of the series; empty: the first
  std::function<double()> sample{};  // instead of `body`: seconds that another program measured
};

/// The line of a variant: all that is needed to repeat it.
template <HasFields Record>
Result timing_of(std::string name, const Record& record, std::string weight_hash = "") {
  Result line = line_of("measurement", std::move(name), record);
  line.weight_hash = std::move(weight_hash);
  return line;
}

/// Samples the variants in turns and keeps a result of kind "measurement" of each, named "series: name", with all its
/// samples; one whose interval stayed wider than the rule's share carries a warning. A variant that fails or for which
/// no time is left is left out.
void time_variants(const ExperimentRun& run, const std::string& series, std::span<const Variant> variants,
                   const SamplingRule& rule);

/// The same for samples of one variant that were taken elsewhere, by another program.
void keep_samples(const ExperimentRun& run, const std::string& series, const Variant& variant,
                  std::vector<double> samples, std::vector<std::string> warnings = {});

/// "NCHW 0.52 s, channels_last 0.17 s": from the greeting of a program that tried its variants and took the fastest.
std::string tried_words(const Json& greeting);

/// The median with its 95 % interval ("n = 2" where there are too few samples for one) and all samples, for a table.
report::Cell time_cell(const Result& timing);

/// Trainings on one data set that are timed in turns: a sample is an epoch.
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
