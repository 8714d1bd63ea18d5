#pragma once
// The measuring part of the ladder: which rungs run here, whether they train the same weights on the same few samples,
// on how many samples each is measured, and the measurements themselves.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "cli/ladder/ladder.hpp"
#include "cli/ladder/peers.hpp"
#include "cli/ladder/records.hpp"
#include "cli/ladder/turn.hpp"
#include "cli/output/console.hpp"
#include "lockstep/lab/sampling.hpp"

namespace lockstep::cli {

/// A rung that runs here, and what was measured.
struct RungMeasurement {
  Rung rung{};
  std::int64_t samples = 0;  // of the training set that it was measured on
  SampledResult sampled{};   // seconds per pass over those samples
  std::vector<int> turns{};  // the number of every turn it took, warm-up included, among those of all rungs
  Turn check{};              // the training on check_samples, the same for every rung: its hash is shown
  Turn last{};               // of the samples: phases of ranks, hash, accuracy
  std::optional<TurnProfile> profile{};
  std::optional<WeightMark> mark{};            // nothing: not compared yet
  std::optional<double> largest_difference{};  // of weights, where they are comparable and not the same: of the check,
                                               // of a later turn where only that differs
  std::string version{};                       // of a peer
};

struct LadderMeasurement {
  RunConfig config{};
  std::int64_t epoch_samples = 0;  // of a whole epoch
  std::int64_t check_samples = 0;  // that every rung trains before it is measured
  CeilingsRecord ceilings{};
  std::vector<RungMeasurement> rungs{};
  std::vector<LeftOutRung> left_out{};
  TurnSetting setting{};
  bool stopped = false;
  CurveRecord curve{};  // the whole training on the fastest rung of the promise; no loss: there was none
};

/// Takes all that was measured so far after every round: for files that outlive a kill.
using KeepMeasurement = std::function<void(const LadderMeasurement&)>;

/// A signal ends it early: `stopped` is set, and all that was measured is there.
LadderMeasurement measure_rungs(const LadderArguments& arguments, Console& console, const Stopped& stopped,
                                const KeepMeasurement& keep);

// curve.cpp: the whole training of the configuration, for the curves of loss and accuracy.

/// Which rung trains in full, and how much of it.
struct CurvePlan {
  const RungMeasurement* rung = nullptr;  // null: none keeps the promise
  std::int64_t epochs = 0;
  double seconds = 0;  // expected
};

/// The fastest rung that keeps the promise; as many epochs of the configuration as fit into 45 s.
CurvePlan plan_curve(const LadderMeasurement& ladder);

/// Trains as planned and fills the curve. Returns what went wrong; empty: nothing.
std::string train_curve(const CurvePlan& plan, const Stopped& stopped, LadderMeasurement& ladder);

// weights.cpp: whether a rung trains the weights of SIMD kernels on one thread.

inline constexpr double kTurnLimit = 120;  // seconds: a rung that does not train a batch in that time is left out

/// Trainings by SIMD kernels on one thread, one for every number of samples that is asked for.
class WeightReference {
 public:
  explicit WeightReference(const LadderMeasurement& ladder) : ladder_(ladder) {}

  const Turn& on(std::int64_t samples);

  /// Marks the rung by the weights of one turn: every turn is compared, not only the check. The largest difference is
  /// that of the check, which all rungs have in common.
  void compare(RungMeasurement& rung, const Turn& turn, std::int64_t samples);

  /// Marks a peer by its weights after one more training, beside those of SIMD kernels from the same initial weights on
  /// the same batches in the same order.
  void compare_peer(RungMeasurement& rung, PeerRung& peer) const;

 private:
  const LadderMeasurement& ladder_;
  std::map<std::int64_t, Turn> turns_;
};

}  // namespace lockstep::cli
