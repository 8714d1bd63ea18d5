// What mnist-mlp claims, judged by its results.

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "cli/reproduce/mnist_mlp/experiment.hpp"
#include "cli/reproduce/mnist_mlp/published.hpp"
#include "cli/reproduce/rungs.hpp"

namespace lockstep::cli {

namespace {

namespace published = mnist_published;

constexpr double kNearPoints = 0.01, kFarPoints = 0.03;  // two seeds differ by less than a point
constexpr const char* kNoDigits = "MNIST was not on this machine.";

std::string percent_text(double share) { return fmt::format("{:.2f} %", 100 * share); }

Judgement judge_accuracy(const Findings& findings) {
  const auto curves = findings.series<MnistCurve>(kMnistCurves);
  if (curves.empty()) return {.facts = kNoDigits};
  std::vector<ClaimVerdict> verdicts;
  double least = 1, most = 0;
  for (const MnistCurve& each : curves) {
    verdicts.push_back(each.test_accuracy > published::kAsked ? ClaimVerdict::holds : ClaimVerdict::fails);
    least = std::min(least, each.test_accuracy);
    most = std::max(most, each.test_accuracy);
  }
  return {
      .verdict = judge_together(verdicts),
      .here = percent_text(least),
      .facts = curves.size() == 1
                   ? fmt::format("One training classifies {} of the test digits right.", percent_text(least))
                   : fmt::format("Of {} trainings, the worst classifies {} of the test digits right and the best {}.",
                                 curves.size(), percent_text(least), percent_text(most))};
}

Judgement judge_epochs(const Findings& findings) {
  const auto curves = findings.series<MnistCurve>(kMnistCurves);
  if (curves.empty()) return {.facts = kNoDigits};
  double farthest = 0;
  for (const auto& each : curves) {
    const std::vector<double>& accuracy = series_of(each, &MnistCurve::validation_accuracy);
    for (std::size_t e = 0; e < std::min(accuracy.size(), published::kValidation.size()); ++e)
      farthest = std::max(farthest, std::abs(accuracy[e] - published::kValidation[e]));
  }
  return {.verdict = judge_distance(farthest, kNearPoints, kFarPoints),
          .here = fmt::format("{:.2f} points away", 100 * farthest),
          .facts = fmt::format("The largest distance from the published accuracy in any epoch is {:.2f} points.",
                               100 * farthest)};
}

/// From interpreted loops to a GPU.
Judgement judge_gpu(const Findings& findings) {
  const auto results = findings.series<ExerciseRecord>(kExercises[0]);
  const ExerciseLine* gpu =
      first_where(results, [](const ExerciseRecord& each) { return each.kernel.device_kind == "gpu"; });
  const ExerciseLine* python = first_of_kind(results, PrimitiveKind::python);
  if (gpu == nullptr) return {.facts = "This run had no GPU."};
  if (python == nullptr) return {.facts = "The loops were not timed in Python."};
  const double ratio = best_of(*python) / best_of(*gpu);
  return {.verdict = ratio >= published::kAskedRatio ? ClaimVerdict::holds
                     : ratio > 1                     ? ClaimVerdict::in_part
                                                     : ClaimVerdict::fails,
          .here = ratio_text(ratio) + "×",
          .facts = fmt::format("{} is {} times as fast as the loops in Python.", device_text(gpu->kernel),
                               ratio_text(ratio))};
}

/// Whether the step from interpreted to compiled loops is the larger one.
Judgement judge_interpreter(const Findings& findings) {
  const auto results = findings.series<ExerciseRecord>(kExercises[0]);
  const ExerciseLine *python = first_of_kind(results, PrimitiveKind::python),
                     *trivial = first_of_kind(results, PrimitiveKind::trivial);
  if (python == nullptr || trivial == nullptr) return {.facts = "The loops were not timed in Python."};
  const ExerciseLine& fastest = fastest_of(results);
  const double compiled = best_of(*python) / best_of(*trivial), rest = best_of(*trivial) / best_of(fastest);
  return {
      .verdict = compiled > rest ? ClaimVerdict::holds : ClaimVerdict::fails,
      .here = fmt::format("{}× and {}×", ratio_text(compiled), ratio_text(rest)),
      .facts = fmt::format("Compiled loops are {} times as fast as interpreted ones; the fastest here ({}) is {} times "
                           "as fast as compiled ones.",
                           ratio_text(compiled), fastest.variant, ratio_text(rest))};
}

Judgement judge_results(const Findings& findings) {
  int all = 0, same = 0;
  for (const char* const exercise : kExercises)
    for (const auto& each : findings.series<ExerciseRecord>(exercise)) {
      if (each.sort != PrimitiveKind::simd && each.sort != PrimitiveKind::device) continue;
      ++all;
      same += each.result == "same" ? 1 : 0;
    }
  if (all == 0) return {.facts = "The exercises were not done."};
  return {
      .verdict = same == all ? ClaimVerdict::holds : ClaimVerdict::fails,
      .here = fmt::format("{} of {}", same, all),
      .facts = fmt::format("{} of {} results of SIMD kernels and devices are those of the trivial loops.", same, all)};
}

}  // namespace

std::vector<Claim> mnist_claims() {
  return {{.id = "above-95",
           .text = "After five epochs the network classifies more than 95 % of handwritten digits right.",
           .published = percent_text(published::kTest),
           .label = "test digits classified right",
           .judge = judge_accuracy},
          {.id = "epoch-by-epoch",
           .text = "The validation accuracy rises from 92.68 % after the first epoch to 96.90 % after the fifth.",
           .published = "92.68 % to 96.90 %",
           .label = "validation accuracy",
           .judge = judge_epochs},
          {.id = "gpu-40",
           .text = "max(A, B) is at least 40 times as fast on a GPU as in trivial loops on one core.",
           .published = fmt::format("{:.0f}×", published::kMax[0].seconds / published::kMax[2].seconds),
           .label = "GPU against Python loops",
           .judge = judge_gpu},
          {.id = "interpreter-first",
           .text = "In max(A, B), compiling the interpreted loops gains more than everything that follows.",
           .judge = judge_interpreter},
          {.id = "same-results",
           .text = "SIMD kernels and devices give the results of the trivial loops, bit for bit.",
           .judge = judge_results},
          {.id = "same-weights",
           .text = "Plain loops, SIMD, threads and devices train the same weights, bit for bit.",
           .judge = [](const Findings& findings) {
             return judge_same_weights(canonical(findings.series<KernelRecord>(kMnistTimes)));
           }}};
}

}  // namespace lockstep::cli
