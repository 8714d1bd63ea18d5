#pragma once
// The training of a run directory, computed again in memory from any state on, with a look at every step.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "lockstep/parallel/ranks.hpp"
#include "lockstep/run/observer.hpp"
#include "lockstep/run/workload.hpp"

namespace lockstep {

/// Stops what computes for long: true: give up, with Error(preempted).
using StopRequest = std::function<bool()>;

class Recomputation {
 public:
  /// Loads the configuration and the data of the run. Error where they cannot be read.
  Recomputation(const std::filesystem::path& directory, Backend backend, int threads, StopRequest stop);

  Recomputation(const Recomputation&) = delete;
  Recomputation& operator=(const Recomputation&) = delete;

  /// Before the first step.
  const TrainingState& beginning() const { return beginning_; }
  const RunConfig& config() const { return work_.config; }
  const DataSplits& data() const { return work_.data; }
  Network& network() { return work_.network; }
  Trainer& trainer() { return work_.trainer; }

  struct Path {
    std::vector<std::string> weights{};           // the weight hash after each step from the beginning of the path on
    std::map<std::int64_t, std::string> lines{};  // of metrics.jsonl, by the step that ends the epoch
    TrainingState end{};                          // after the last step; its counts stand before the end of an epoch
  };
  /// Trains from a state to step `last`, and past the end of its epoch where it is the last of one. `look` is called
  /// after every step, may be empty, and sees network().
  Path follow(const TrainingState& from, std::int64_t last, const std::function<void(std::int64_t)>& look = {});

 private:
  Ranks alone_;
  StopRequest stop_;
  Workload work_;
  TrainingState beginning_{};
};

}  // namespace lockstep
