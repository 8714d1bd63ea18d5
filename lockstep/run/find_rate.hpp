#pragma once
// The learning-rate finder: a few steps at rates that rise from very small to very large, and the loss of each. Where
// the loss falls fastest is a rate to begin with (Smith 2017). Writes no files.

#include <optional>
#include <string>
#include <vector>

#include "lockstep/run/train_run.hpp"

namespace lockstep {

struct RateTrial {
  double rate = 0;
  double loss = 0;    // of one batch, before its step
  double smooth = 0;  // its exponential mean, weight 0.1 for the newest, without the bias of the first ones
};

struct RateCurve {
  std::vector<RateTrial> points{};
  std::optional<double> suggestion{};  // nothing where the loss never falls

  /// A table with a line of blocks, and the key to set.
  std::string text() const;
  std::string json() const;
};

/// 100 steps from 1e-6 to 10, each rate the same factor above the last; ends where the smooth loss is four times its
/// smallest, or no finite number. The network, data and batches are those of the configuration. One process only.
RateCurve find_rate(const std::string& config, const RunOptions& options);

/// The rate at which the smooth loss falls fastest over the logarithm of the rate: the middle of three points.
std::optional<double> steepest_rate(const std::vector<RateTrial>& points);

}  // namespace lockstep
