#pragma once
// What a training run has to show: curves, epochs, phases, layers.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/run/scores.hpp"
#include "lockstep/lab/report/document.hpp"
#include "lockstep/model/model_file.hpp"

namespace lockstep::cli {

struct RunEpoch {
  EpochReport scores{};
  std::optional<double> seconds{}, samples_per_second{};
};

/// metrics.jsonl and timings.jsonl, read back.
struct RunHistory {
  std::string name{};
  std::vector<RunEpoch> epochs{};
  std::optional<Scores> test{}, final_train{};  // of the final weights
  std::optional<double> first_loss{};           // of the first batch
  std::string weight_hash{}, backend{};
  std::map<std::string, double> phases{};                    // seconds over all epochs
  std::vector<std::map<std::string, double>> rank_phases{};  // the same of each rank, where there are several
};

/// A line of the file. Json::exception where it is of another kind.
void add_metrics(RunHistory& history, const Json& line);
void add_timings(RunHistory& history, const Json& line);

/// Summary, curves, time and model.
report::Document history_document(const RunHistory& history, const Model* model);

}  // namespace lockstep::cli
