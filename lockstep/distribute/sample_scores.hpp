#pragma once
// What metrics need to know of every sample of an evaluation, from the network's outputs. Each number depends on one
// sample alone, so it does not matter who computes it; metrics add them up in the order of the samples
// (lockstep/train/metrics.hpp).

#include <cstdint>
#include <vector>

#include "lockstep/kernels/loss.hpp"

namespace lockstep {

/// Samples per block of an evaluation: part of the order of its loss.
inline constexpr std::int64_t kScoreBlock = 64;

/// One entry per sample: sample s of block b at b * kScoreBlock + s.
struct SampleScores {
  // Where the targets are labels.
  std::vector<std::int64_t> answer;  // the predicted class (ScoreSlots)
  std::vector<std::int64_t> place;   // outputs before the label's: larger ones, and equal ones of a smaller index
  std::vector<double> margin;        // for class 1 against class 0: z with one output, z_1 - z_0 with several
  std::vector<double> gap;           // the answer's output minus the label's; 0 where the answer is right
  std::vector<double> sure;          // of wrong answers: their probability; 0 where outputs are no probabilities
  // Where they are numbers: chains over the outputs of |y - t| and (y - t)^2 in double, y the network's answer.
  std::vector<double> absolute, square;
  std::vector<double> value;  // y of output 0

  bool wanted() const { return !answer.empty() || !absolute.empty(); }
  /// Reserves room for this number of samples with labels, or with real targets; 0: none are wanted.
  void resize(std::int64_t samples, bool labels);
};

/// Fills the entries from `at` on with those of the columns of z. Everything lies on the host.
template <class T>
void score_samples(Loss loss, ConstMatrix<T> z, const LossTargets<T>& targets, std::int64_t at, SampleScores& scores);

}  // namespace lockstep
