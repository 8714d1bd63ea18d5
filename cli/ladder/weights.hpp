#pragma once
// Whether a rung trains the weights of SIMD kernels on one thread.

#include <map>

#include "cli/ladder/measurement.hpp"

namespace lockstep::cli {

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
