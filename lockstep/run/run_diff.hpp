#pragma once
// Two runs that should agree and do not: the first step, phase, layer and element in which they differ, and which of
// them this machine computes. Files are compared first (metrics, checkpoints); between the last point where they agree
// and the first where they do not, the training is computed again (docs/design/0056-diff.md).

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "lockstep/lab/report/document.hpp"
#include "lockstep/run/recompute.hpp"

namespace lockstep {

struct DiffOptions {
  Backend backend = Backend::simd;  // that decides
  int threads = 0;
  StopRequest stop{};
};

/// How far the weights of two runs are from each other after a step.
struct Distance {
  std::int64_t step = 0;
  double largest = 0;   // of the differences
  double relative = 0;  // the same, by the largest weight
  double elements = 0;  // share of the weights that differ
  std::string where{};  // "0.weight[3]", where the difference is largest
};

struct RunDiff {
  std::array<std::string, 2> names{}, backends{};
  std::int64_t epochs = 0, checkpoints = 0;  // that both runs have
  bool agree = false;

  // Where they do not:
  std::int64_t last_same = 0;    // step up to which the files agree
  std::int64_t first_other = 0;  // step at which they do not
  std::string evidence{};        // what says so: "epoch 2: train.loss is 0.1 in the first and 0.2 in the second"
  /// Whether each run has, at first_other, what the recomputation by `options.backend` gives.
  std::array<bool, 2> computed_here{};
  std::string reference{};             // its backend
  std::array<bool, 2> reproduced{};    // by the run's own backend, where that is another one
  std::optional<std::int64_t> step{};  // the first that differs, where both could be computed again
  std::string phase{}, place{};        // of it: "forward", "layer 0 (conv2d), output 3 of sample 17: 0.5 and 0.25"
  std::string state{};                 // the first element of the first checkpoints that differ; empty: there are none
  /// Of a run that cannot be computed again: the step of its checkpoint from which on it can be.
  std::array<std::optional<std::int64_t>, 2> sound_from{};
  std::vector<Distance> growth{};
  int replays = 0;

  std::string verdict() const;
  std::string json() const;
  report::Document document() const;
};

/// Error(usage) for runs that need not agree: another configuration, other data, another numerics version.
RunDiff diff_runs(const std::filesystem::path& first, const std::filesystem::path& second,
                  const DiffOptions& options = {});

}  // namespace lockstep
