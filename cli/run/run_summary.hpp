#pragma once
// What lockstep train prints at the end of a run: a table, or JSON.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/run/profile.hpp"
#include "cli/run/run_directory.hpp"
#include "lockstep/config/config.hpp"
#include "lockstep/train/trainer.hpp"

namespace lockstep::cli {

struct RunSummary {
  const RunConfig& config;
  const Network& network;
  const RunDirectory& directory;
  std::optional<EpochReport> last{};   // of the last epoch
  std::optional<double> first_loss{};  // of the training's first batch
  std::optional<Scores> test{};
  std::optional<Scores> final_train{};  // of the final weights, where neither a validation nor a test set tells of them
  std::optional<std::int64_t> resumed_step{};  // where this process took the run over
  std::string checkpoint{};                    // the name of the last one
  double seconds = 0;                          // of this process, and the samples it trained on in them
  double step_seconds = 0;                     // of them in the steps of complete epochs
  std::int64_t samples = 0;
  const RunProfile* profile = nullptr;
  int ranks = 1;

  /// What a user should know before the result is used (loss_warning).
  std::optional<std::string> warning() const;
  std::string text() const;
  std::string json() const;

 private:
  double rate() const { return seconds > 0 ? double(samples) / seconds : 0; }
  std::vector<std::string> files() const;
  /// MPI adds up in an order of its own, which depends on the number of ranks.
  bool summed_by_mpi() const { return ranks > 1 && config.train.parallel.reduce == RankReduction::library; }
};

}  // namespace lockstep::cli
