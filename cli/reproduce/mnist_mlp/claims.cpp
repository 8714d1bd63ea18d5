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
  const auto curves = findings.series(kMnistCurves);
  if (curves.empty()) return {.facts = kNoDigits};
  std::vector<Verdict> verdicts;
  double least = 1, most = 0;
  for (const Result* each : curves) {
    const double test = each->number("test_accuracy").value_or(0);
    verdicts.push_back(test > published::kAsked ? Verdict::holds : Verdict::fails);
    least = std::min(least, test);
    most = std::max(most, test);
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
  const auto curves = findings.series(kMnistCurves);
  if (curves.empty()) return {.facts = kNoDigits};
  double farthest = 0;
  for (const Result* each : curves) {
    const std::vector<double>& accuracy = values_of(*each, "validation_accuracy");
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
  const auto results = findings.series(kExercises[0]);
  const Result *gpu = find_on_gpu(results), *python = first_of_kind(results, "python");
  if (gpu == nullptr) return {.facts = "This run had no GPU."};
  if (python == nullptr) return {.facts = "The loops were not timed in Python."};
  const double ratio = best_of(*python) / best_of(*gpu);
  return {.verdict = ratio >= published::kAskedRatio ? Verdict::holds
                     : ratio > 1                     ? Verdict::in_part
                                                     : Verdict::fails,
          .here = ratio_text(ratio) + "×",
          .facts = fmt::format("{} is {} times as fast as the loops in Python.", device_text(*gpu), ratio_text(ratio))};
}

/// Whether the step from interpreted to compiled loops is the larger one.
Judgement judge_interpreter(const Findings& findings) {
  const auto results = findings.series(kExercises[0]);
  const Result *python = first_of_kind(results, "python"), *trivial = first_of_kind(results, "trivial");
  if (python == nullptr || trivial == nullptr) return {.facts = "The loops were not timed in Python."};
  const Result& fastest =
      **std::min_element(results.begin(), results.end(), [](auto* a, auto* b) { return best_of(*a) < best_of(*b); });
  const double compiled = best_of(*python) / best_of(*trivial), rest = best_of(*trivial) / best_of(fastest);
  return {
      .verdict = compiled > rest ? Verdict::holds : Verdict::fails,
      .here = fmt::format("{}× and {}×", ratio_text(compiled), ratio_text(rest)),
      .facts = fmt::format("Compiled loops are {} times as fast as interpreted ones; the fastest here ({}) is {} times "
                           "as fast as compiled ones.",
                           ratio_text(compiled), fastest.word("variant"), ratio_text(rest))};
}

Judgement judge_results(const Findings& findings) {
  int all = 0, same = 0;
  for (const char* const exercise : kExercises)
    for (const Result* each : findings.series(exercise)) {
      const std::string kind = each->word("kind");
      if (kind != "simd" && kind != "device") continue;
      ++all;
      same += each->word("result") == "same" ? 1 : 0;
    }
  if (all == 0) return {.facts = "The exercises were not done."};
  return {
      .verdict = same == all ? Verdict::holds : Verdict::fails,
      .here = fmt::format("{} of {}", same, all),
      .facts = fmt::format("{} of {} results of SIMD kernels and devices are those of the trivial loops.", same, all)};
}

}  // namespace

std::vector<Claim> mnist_claims() {
  return {
      {.id = "above-95",
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
       .published = "",
       .label = "",
       .judge = judge_interpreter},
      {.id = "same-results",
       .text = "SIMD kernels and devices give the results of the trivial loops, bit for bit.",
       .published = "",
       .label = "",
       .judge = judge_results},
      {.id = "same-weights",
       .text = "Plain loops, SIMD, threads and devices train the same weights, bit for bit.",
       .published = "",
       .label = "",
       .judge = [](const Findings& findings) { return judge_same_weights(canonical(findings.series(kMnistTimes))); }}};
}

}  // namespace lockstep::cli
