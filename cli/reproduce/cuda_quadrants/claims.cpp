// What cuda-quadrants claims, judged by its results.

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "cli/reproduce/cuda_quadrants/experiment.hpp"
#include "cli/reproduce/cuda_quadrants/published.hpp"
#include "cli/reproduce/rungs.hpp"

namespace lockstep::cli {

namespace {

namespace published = quadrants_published;

/// Ours are of other compilers and another arrangement of the same sections.
constexpr double kNearShare = 0.03, kFarShare = 0.1;
/// A last printed digit, rounded on the other side; and the three digits that the report's text gives.
constexpr double kLastDigit = 1.5e-6, kThreeDigits = 1e-3;

Judgement judge_gpu(const Findings& findings) {
  const std::vector<KernelLine> times = findings.series<KernelRecord>(kQuadrantTimes);
  const KernelLine* const unoptimised = on_one_thread(times, "naive-o0");
  if (const KernelLine* const gpu = find_on_gpu(times))
    return judge_speed_up(published::kSpeedUp, compare(unoptimised, gpu),
                          fmt::format("Against the unoptimised loops, {} is", device_text(*gpu)));
  Judgement judgement{.facts = "This run had no GPU."};
  for (const KernelLine& each : times)
    if (const std::string device = device_text(each); !device.empty())
      judgement.facts += fmt::format(" {}: {}.", short_name(each), device);
  const auto fastest = std::min_element(times.begin(), times.end(),
                                        [](const Result& a, const Result& b) { return median_of(a) < median_of(b); });
  if (unoptimised != nullptr)
    judgement.facts += fmt::format(" The fastest kernels here ({}) take {:.3g} of the time of the unoptimised loops.",
                                   short_name(*fastest), median_of(*fastest) / median_of(*unoptimised));
  return judgement;
}

Judgement judge_losses(const Findings& findings) {
  const auto curve = findings.find_line<QuadrantCurve>(kQuadrantCurve);
  if (!curve) return {.facts = "No training was done."};
  const std::size_t epochs = published::kTestLoss.size();
  const std::vector<double>&losses = series_of(*curve, &QuadrantCurve::loss, epochs),
        &accuracies = series_of(*curve, &QuadrantCurve::accuracy, epochs);
  double loss_off = 0, accuracy_off = 0;
  for (std::size_t i = 0; i < epochs; ++i) {
    loss_off = std::max(loss_off, std::abs(losses[i] - published::kTestLoss[i]));
    accuracy_off = std::max(accuracy_off, std::abs(accuracies[i] - published::kTestAccuracy[i]));
  }
  const double last = losses[epochs - 1], right = accuracies[epochs - 1];
  const bool end = std::abs(last - published::kTestLoss.back()) < kThreeDigits && right > 1 - kThreeDigits;
  return {
      .verdict = loss_off <= kLastDigit && accuracy_off <= 1e-6 ? ClaimVerdict::holds
                 : end                                          ? ClaimVerdict::in_part
                                                                : ClaimVerdict::fails,
      .here = fmt::format("{:.6f}, {:.6f}", last, right),
      .facts = fmt::format("Over ten epochs the largest difference of a printed loss is {:.1e}, of an accuracy {:.1e}.",
                           loss_off, accuracy_off)};
}

/// The profile that is most like the published one: instructions of unoptimised loops, or else their time.
std::optional<Line<SectionShares>> serial_shares(const Findings& findings) {
  for (const auto& each : findings.series<SectionShares>(kQuadrantShares))
    if (each.name.find("-O0") != std::string::npos) return each;
  return std::nullopt;
}

Judgement judge_parallel_share(const Findings& findings) {
  const auto shares = serial_shares(findings);
  if (!shares) return {.facts = "The unoptimised loops were not profiled."};
  const double share = shares->parallel();
  return {.verdict = judge_distance(std::abs(share - published::kParallelShare / 100), kNearShare, kFarShare),
          .here = fmt::format("{:.2f} %", 100 * share),
          .facts = fmt::format("The same sections take {:.2f} % here ({}). The published parts add up to 97.71 %.",
                               100 * share, short_name(*shares))};
}

Judgement judge_order(const Findings& findings) {
  const auto shares = serial_shares(findings);
  if (!shares) return {.facts = "The unoptimised loops were not profiled."};
  const double linear = shares->linear_backward.value_or(0) + shares->linear_forward.value_or(0);
  const double relu = shares->relu_backward.value_or(0) + shares->relu_forward.value_or(0);
  const double sigmoid = shares->sigmoid_and_loss.value_or(0);
  return {.verdict = judge_together({linear > 0.5 ? ClaimVerdict::holds : ClaimVerdict::fails,
                                     relu > sigmoid ? ClaimVerdict::holds : ClaimVerdict::fails}),
          .here = fmt::format("{:.1f} %, {:.1f} %, {:.1f} %", 100 * linear, 100 * relu, 100 * sigmoid),
          .facts = fmt::format("Linear layers, ReLU and sigmoid take these shares here ({}); the loss counts with the "
                               "sigmoid.",
                               short_name(*shares))};
}

}  // namespace

std::vector<Claim> quadrant_claims() {
  return {
      {.id = "gpu-speed-up",
       .text = "A graphics card (GTX 1050 Ti) trains 32.09 times as fast as the serial program.",
       .published = fmt::format("{}×", published::kSpeedUp),
       .label = "a GPU against the unoptimised serial loops",
       .judge = judge_gpu},
      {.id = "losses",
       .text = "In ten epochs the test loss falls to 0.106858 and the accuracy rises to 1.",
       .published = fmt::format("{:.6f}, {:.6f}", published::kTestLoss.back(), published::kTestAccuracy.back()),
       .label = "last test loss and accuracy",
       .judge = judge_losses},
      {.id = "parallel-share",
       .text = "98.01 % of the serial program can run in parallel.",
       .published = fmt::format("{} %", published::kParallelShare),
       .label = "share of the layers",
       .judge = judge_parallel_share},
      {.id = "linear-first",
       .text = "The linear layers take most of the time, and ReLU takes longer than the sigmoid.",
       .published =
           fmt::format("{} %, {} %, {} %", published::kLinearTotal, published::kReluTotal, published::kSigmoidTotal),
       .label = "linear, ReLU, sigmoid",
       .judge = judge_order},
      {.id = "missing-flag",
       .text = "The compiler's optimisation alone makes the serial loops at least twice as fast, so a part of the "
               "published factor is the missing flag.",
       .judge =
           [](const Findings& findings) {
             const auto times = findings.series<KernelRecord>(kQuadrantTimes);
             return judge_speed_up(2 / 0.9, compare(on_one_thread(times, "naive-o0"), on_one_thread(times, "naive")),
                                   "Against the unoptimised loops, the optimised ones are");
           }},
      {.id = "same-weights",
       .text = "Plain loops, SIMD, threads and devices train the same weights, bit for bit.",
       .judge = [](const Findings& findings) {
         return judge_same_weights(canonical(findings.series<KernelRecord>(kQuadrantTimes)));
       }}};
}

}  // namespace lockstep::cli
