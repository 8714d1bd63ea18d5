#pragma once
// The measuring part of the ladder: which rungs run here, whether they train the same weights on the same few samples,
// on how many samples each is measured, and the measurements themselves.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cli/ladder/ladder.hpp"
#include "cli/ladder/peers.hpp"
#include "cli/ladder/turn.hpp"
#include "cli/output/console.hpp"
#include "lockstep/lab/sampling.hpp"

namespace lockstep::cli {

/// Ceilings of the machine, measured on the spot.
struct Ceilings {
  int threads = 1;                              // "all"
  double flops_one = 0, flops_all = 0;          // per second, in the network's precision
  double bandwidth_one = 0, bandwidth_all = 0;  // bytes per second
};

/// A rung that runs here, and what was found out about it.
struct Climbed {
  Rung rung{};
  std::int64_t samples = 0;  // of the training set that it was measured on
  SampledResult sampled{};   // seconds per pass over those samples
  Turn check{};              // the training on Climb::check_samples, the same for every rung: its hash is shown
  Turn last{};               // of the samples: phases of ranks, hash, accuracy
  std::optional<TurnProfile> profile{};
  std::string mark{};                          // "same", "differs", "own weights", "other training"
  std::optional<double> largest_difference{};  // of weights, where they are comparable and not the same: of the check,
                                               // of a later turn where only that differs
  std::string version{};                       // of a peer
};

struct LeftOut {
  Rung rung{};
  std::string why;
};

struct Climb {
  RunConfig config{};
  std::int64_t epoch_samples = 0;  // of a whole epoch
  std::int64_t check_samples = 0;  // that every rung trains before it is measured
  Ceilings ceilings{};
  std::vector<Climbed> rungs{};
  std::vector<LeftOut> left_out{};
  TurnSetting setting{};
  bool stopped = false;
  // The whole training on the fastest rung of the promise, epoch by epoch.
  std::string curve_rung{};
  std::vector<double> curve_loss{}, curve_accuracy{}, curve_validation_loss{}, curve_validation_accuracy{};
  std::optional<double> final_accuracy{};
  double curve_seconds = 0;
};

/// Is given all that was measured so far, again and again: for files that outlive a kill.
using KeepClimb = std::function<void(const Climb&)>;

/// Signals end it early; `stopped` is set then, and all that was measured is there.
Climb climb(const LadderArguments& arguments, Console& console, const Stopped& stopped, const KeepClimb& keep);

}  // namespace lockstep::cli
