// What openmp-cuda-pytorch claims, judged by its results.

#include <algorithm>

#include <fmt/format.h>

#include "cli/reproduce/openmp_cuda_pytorch/experiment.hpp"
#include "cli/reproduce/openmp_cuda_pytorch/published.hpp"
#include "lockstep/core/words.hpp"

namespace lockstep::cli {

namespace {

namespace published = openmp_published;

constexpr double kOneThread = published::kThreads[0].seconds;
constexpr double kOnAllCores = published::kThreads[4].seconds, kOnTwiceTheCores = published::kThreads[5].seconds;
constexpr double kBatchFactor = published::kBatch1On16 / published::kBatch512On16;

/// How many times as fast these kernels are on `to` threads as on `from`.
std::optional<Comparison> speed_up(const Findings& findings, const std::string& backend, int from, int to) {
  const auto timings = findings.series<DeepRecord>(kThreadTimes);
  const auto on = [&](int threads) {
    return first_where(timings, [&](const DeepRecord& each) {
      return each.kernel.backend == backend && each.kernel.threads == threads;
    });
  };
  return compare(on(from), on(to));
}

int processors_of(const Findings& findings) {
  const auto timings = findings.series<DeepRecord>(kThreadTimes);
  return timings.empty() ? 0 : timings[0].work.processors.value_or(1);
}

/// The largest published number of threads for which there are processors; 1: none.
const published::ThreadTime& most_threads(int processors) {
  const published::ThreadTime* most = published::kThreads.data();
  for (const published::ThreadTime& each : published::kThreads)
    if (each.threads <= processors) most = &each;
  return *most;
}

Judgement judge_threads(const Findings& findings) {
  const int processors = processors_of(findings);
  const published::ThreadTime& most = most_threads(processors);
  if (processors < 2) return {.facts = "There are no times on two processors or more."};
  const double claimed = kOneThread / most.seconds;
  std::vector<Judgement> parts;
  for (const auto& [backend, name] : {std::pair{"naive", "Plain loops"}, {"simd", "SIMD kernels"}})
    if (const auto comparison = speed_up(findings, backend, 1, most.threads))
      parts.push_back(judge_speed_up(claimed, comparison, fmt::format("{} on {} threads are", name, most.threads)));
  Judgement judgement = judge_together(parts, "This run has no times for it.");
  judgement.published = fmt::format("{:.2f}× on {}", claimed, most.threads);
  return judgement;
}

/// More threads than processors, against as many.
Judgement judge_crowded(const Findings& findings) {
  const int fitting = most_threads(processors_of(findings)).threads;
  const auto comparison = speed_up(findings, "simd", fitting, 32);
  if (!comparison || fitting == 32) return {.facts = "This run has no times for it."};
  return {.verdict = comparison->opposite(),
          .here = fmt::format("{:.2f}×", comparison->ratio),
          .facts = fmt::format("32 threads are {} as {}, with SIMD kernels.", comparison->words(), fitting)};
}

Judgement judge_batches(const Findings& findings) {
  const auto timings = findings.series<DeepRecord>(kBatchTimes);
  const DeepLine *smallest = nullptr, *largest = nullptr;
  int threads = 0;
  for (const DeepLine& each : timings) threads = std::max(threads, each.kernel.threads);
  for (const DeepLine& each : timings) {
    if (each.kernel.threads != threads) continue;
    if (each.work.batch == 1) smallest = &each;
    if (each.work.batch == 512) largest = &each;
  }
  return judge_speed_up(kBatchFactor, compare(smallest, largest),
                        fmt::format("On {}, an epoch in batches of 512 is", count_of(threads, "thread")));
}

Judgement judge_backward(const Findings& findings) {
  const auto timings = findings.series<SectionRecord>(kSectionTimes);
  const SectionLine* loops = first_where(
      timings, [](const SectionRecord& each) { return each.kernel.backend == "naive" && each.kernel.threads == 1; });
  if (loops == nullptr) return {.facts = "The sections of plain loops were not timed."};
  const EpochSections& seconds = loops->seconds;
  const double all = seconds.all.value_or(0), back = seconds.backward.value_or(0), share = all > 0 ? back / all : 0;
  const bool most = back > std::max({seconds.forward, seconds.update, seconds.reduce}).value_or(0);
  return {.verdict = most && share > 0.5 ? ClaimVerdict::holds
                     : most              ? ClaimVerdict::in_part
                                         : ClaimVerdict::fails,
          .here = fmt::format("{:.0f} %", 100 * share),
          .facts = fmt::format("Of an epoch of plain loops, backward takes {:.3g} s and forward {:.3g} s of {:.3g} s.",
                               back, seconds.forward.value_or(0), all)};
}

Judgement judge_pytorch(const Findings& findings) {
  std::vector<Judgement> parts;
  for (const PeerLine& each : findings.series<PeerRecord>(kPeerTimes))
    if (const auto comparison = compare(&each, each.baseline.empty() ? nullptr : findings.find(each.baseline)))
      parts.push_back({.verdict = comparison->opposite(),
                       .here = fmt::format("{:.3g}×", comparison->ratio),
                       .facts = fmt::format("Lockstep is {} as {}.", comparison->words(), short_name(each))});
  return judge_together(parts, "PyTorch was not here.");
}

Judgement judge_moons(const Findings& findings) {
  const auto runs = findings.series<MoonRecord>(kMoonCurves);
  if (runs.empty()) return {.facts = "No training was done."};
  const auto reached =
      std::count_if(runs.begin(), runs.end(), [](const MoonRecord& each) { return each.reached_in_epoch > 0; });
  return {.verdict = reached == std::ssize(runs) ? ClaimVerdict::holds
                     : reached > 0               ? ClaimVerdict::in_part
                                                 : ClaimVerdict::fails,
          .here = fmt::format("{} of {}", reached, runs.size()),
          .facts =
              fmt::format("{} of {} trainings classify 99 % of new points right in some epoch.", reached, runs.size())};
}

Judgement judge_nan(const Findings& findings) {
  const auto layers = findings.series<LayerRecord>(kLayers);
  if (layers.empty()) return {.facts = "The layers were not followed."};
  int theirs = 0, bounded = 0;
  for (const LayerRecord& each : layers) {
    theirs += each.published_nan > 0.0 ? 1 : 0;
    bounded += each.bounded_nan > 0.0 ? 1 : 0;
  }
  return {.verdict = theirs > 0 && bounded == 0 ? ClaimVerdict::holds
                     : theirs > 0               ? ClaimVerdict::in_part
                                                : ClaimVerdict::fails,
          .here = fmt::format("{} of {} layers", theirs, layers.size()),
          .facts = fmt::format("{} of {} layers give NaN with the published formula, {} with 1/(1+exp(-x)).", theirs,
                               layers.size(), bounded)};
}

}  // namespace

std::vector<Claim> openmp_claims() {
  const auto same = [](const Findings& findings) {
    return judge_same_weights(canonical(findings.series<KernelRecord>(kThreadTimes)));
  };
  return {
      {.id = "threads-pay",
       .text = "Threads pay: on 16 cores 16 threads are 4.47 times as fast as one.",
       .published = fmt::format("{:.2f}× on 16", kOneThread / kOnAllCores),
       .label = "times as fast as one thread",
       .judge = judge_threads},
      {.id = "no-more-than-cores",
       .text = "More threads than cores cost time: 32 are slower than 16.",
       .published = fmt::format("{:.2f}×", kOnAllCores / kOnTwiceTheCores),
       .label = "times as fast as one thread per core",
       .judge = judge_crowded},
      {.id = "batches",
       .text = "Larger batches train faster: from batches of 1 to 512 an epoch falls from 1701 to 12 s.",
       .published = fmt::format("{:.0f}×", kBatchFactor),
       .label = "batches of 512 against batches of 1",
       .judge = judge_batches},
      {.id = "backward-most",
       .text = "Back propagation is the most expensive part of training.",
       .label = "share of an epoch",
       .judge = judge_backward},
      {.id = "pytorch-ahead",
       .text = "A program of one's own does not reach the speed of PyTorch.",
       .label = "against PyTorch",
       .judge = judge_pytorch},
      {.id = "moons", .text = "The network 2-3-3-1 learns the moons to 99 %.", .judge = judge_moons},
      {.id = "not-a-number",
       .text = "The published timings computed on NaN: weights in [0, 1) and exp(x)/(exp(x)+1) overflow on this "
               "network in single precision.",
       .judge = judge_nan},
      {.id = "same-weights", .text = "Every number of threads trains the same weights, bit for bit.", .judge = same}};
}

}  // namespace lockstep::cli
