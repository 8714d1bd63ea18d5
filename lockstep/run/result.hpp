#pragma once
// What a run came to: the scores, the weights, the files; as a table for people and as JSON.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "lockstep/config/config.hpp"
#include "lockstep/train/trainer.hpp"

namespace lockstep {

/// The value of a metric for people: "0.8123", or "-" where there is none.
std::string metric_text(double value);

/// Of rank 0. On the other ranks only `ranks` and `config` are filled.
struct RunResult {
  RunConfig config{};  // resolved
  std::filesystem::path directory{};
  std::string weight_hash{};    // of the final weights
  std::int64_t parameters = 0;  // trainable
  int ranks = 1;
  int threads = 1, step_threads = 1;  // of each rank; those that take part in a step (Trainer::step_threads)
  std::string threads_note{};         // why fewer than all; empty: all of them

  std::optional<EpochReport> last{};   // of the last epoch
  std::optional<double> first_loss{};  // of the training's first batch
  std::optional<Scores> test{};
  std::optional<Scores> final_train{};         // of the final weights, when there is no validation or test set
  std::optional<std::int64_t> resumed_step{};  // where this process continued the run

  std::string checkpoint{};                    // the file name of the last one
  double seconds = 0;                          // of this process in training
  double step_seconds = 0;                     // of these in the steps of complete epochs
  std::int64_t samples = 0;                    // trained on in `seconds`
  std::string profile_text{}, profile_json{};  // empty: not profiled

  /// What a user should know before the result is used (loss_warning).
  std::optional<std::string> warning() const;
  /// The tables that `lockstep train` prints.
  std::string text() const;
  /// The same as a JSON document.
  std::string json() const;

 private:
  double rate() const { return seconds > 0 ? double(samples) / seconds : 0; }
  std::vector<std::string> files() const;
  /// MPI adds in an order of its own, which depends on the number of ranks.
  bool summed_by_mpi() const { return ranks > 1 && config.train.parallel.reduce == RankReduction::library; }
};

}  // namespace lockstep
