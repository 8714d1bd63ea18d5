// The first words of openmp-cuda-pytorch: what agrees with the published runs, what does not, and why.

#include <algorithm>

#include <fmt/format.h>

#include "cli/reproduce/openmp_cuda_pytorch.hpp"
#include "cli/reproduce/openmp_cuda_pytorch_published.hpp"
#include "cli/reproduce/rungs.hpp"

#include "lockstep/core/words.hpp"

namespace lockstep::cli {

namespace {

namespace published = openmp_published;

/// The median of these kernels on so many threads; nothing: not measured.
std::optional<double> seconds_of(const Findings& findings, Backend backend, int threads) {
  const Result* found = findings.find(fmt::format("{}: {}", kThreadTimes, kernels_on(backend, threads)));
  return found == nullptr ? std::nullopt : std::optional(median_of(*found));
}

std::string threads_agree(const Findings& findings, int processors) {
  const auto one = seconds_of(findings, Backend::simd, 1);
  std::optional<double> most;
  int workers = 1;
  for (const published::ThreadTime& each : published::kThreads)
    if (const auto here = seconds_of(findings, Backend::simd, each.threads); here && each.threads <= processors)
      most = here, workers = each.threads;
  if (!one || !most || workers < 2) return "";
  const auto theirs = std::find_if(published::kThreads.begin(), published::kThreads.end(),
                                   [&](const published::ThreadTime& each) { return each.threads == workers; });
  return fmt::format(
      "Threads pay while there are processors for them, and not beyond: {} threads are {:.2f} times as fast as one "
      "here "
      "({:.2f} published). ",
      workers, *one / *most, published::kThreads[0].seconds / theirs->seconds);
}

std::string serial_differs(const Findings& findings) {
  const auto loops = seconds_of(findings, Backend::naive, 1), simd = seconds_of(findings, Backend::simd, 1);
  if (!loops || !simd) return "";
  return fmt::format(
      "One thread of SIMD kernels is {:.0f} times as fast as plain loops on one thread, and all 16 published threads "
      "together were {:.2f} times as fast as one: the serial program is where most was to be gained, before any "
      "thread. ",
      *loops / *simd, published::kThreads[0].seconds / published::kThreads[4].seconds);
}

/// PyTorch on all processors against Lockstep on as many.
std::string peer_beside(const Findings& findings) {
  std::string text;
  for (const Result* each : findings.series(kPeerTimes))
    if (const Result* ours = each->baseline.empty() ? nullptr : findings.find(each->baseline))
      text = fmt::format(
          "PyTorch, the yardstick the paper proposed, takes {:.2f} times as long as Lockstep on {:.0f} thread{}. ",
          median_of(*each) / median_of(*ours), each->number("threads").value_or(1),
          each->number("threads") == 1.0 ? "" : "s");
  return text;
}

std::string moons_agree(const Findings& findings) {
  const std::vector<const Result*> runs = findings.series(kMoonCurves);
  if (runs.empty() || !runs[0]->number("reached_in_epoch")) return "";
  return fmt::format("Moons are learnt to 99 % in epoch {:.0f}. ", *runs[0]->number("reached_in_epoch"));
}

}  // namespace

void describe_openmp_summary(const Findings& findings, report::Document& document) {
  const std::vector<const Result*> timings = findings.series(kThreadTimes);
  const int processors = timings.empty() ? 1 : static_cast<int>(timings[0]->number("processors").value_or(1));
  document.section("What is seen")
      .add(report::Paragraph{
          fmt::format("**What agrees.** {}{}", threads_agree(findings, processors), moons_agree(findings))})
      .add(report::Paragraph{fmt::format(
          "**What does not, and why.** {}{}The seconds themselves cannot be compared: the paper names neither the "
          "batch nor the number of epochs of its timings, and its network computed on NaN (below), ours on numbers. "
          "This machine has {}; rows with more threads are marked *.",
          serial_differs(findings), peer_beside(findings), count_of(processors, "processor"))});
}

}  // namespace lockstep::cli
