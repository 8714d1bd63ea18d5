#include <algorithm>

#include <fmt/format.h>

#include "cli/reproduce/contest.hpp"
#include "cli/reproduce/cuda_quadrants/parts.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/parallel/team.hpp"

namespace lockstep::cli {

namespace {

const SamplingRule kUsual{.share = 0.02, .least = 6, .most = 40, .budget_seconds = 60};
const SamplingRule kQuick{.share = 0.05, .least = 3, .most = 9, .budget_seconds = 12};

std::string words_for(Backend backend, int threads) {
  const std::string kind = backend == Backend::naive_o0 ? "plain loops -O0"
                           : backend == Backend::naive  ? "plain loops -O3"
                           : backend == Backend::simd   ? "SIMD"
                                                        : backend_names()[static_cast<std::size_t>(backend)];
  return fmt::format("{}, {}", kind, count_of(threads, "thread"));
}

struct Choice {
  Backend backend;
  int threads;
};

/// Serial first, then threads, then libraries and devices.
std::vector<Choice> choices() {
  std::vector<Choice> all = {{Backend::naive_o0, 1}, {Backend::naive, 1}, {Backend::simd, 1}};
  for (int threads = 2; threads <= available_cpus(); threads *= 2) all.push_back({Backend::simd, threads});
  all.push_back({Backend::library, 1});
  for (const char* const device : {"opencl", "cuda"}) {
    const auto& names = backend_names();
    if (const auto found = std::find(names.begin(), names.end(), device); found != names.end())
      all.push_back({static_cast<Backend>(found - names.begin()), 1});
  }
  return all;
}

}  // namespace

void time_quadrants(const ExperimentRun& run, const QuadrantData& data) {
  run.progress("one epoch by every kind of kernel, in turns");
  TrainingContest contest(run, data.train);
  for (const Choice& choice : choices())
    contest.add(words_for(choice.backend, choice.threads), published_quadrant_network(),
                quadrant_options(choice.backend, choice.threads));
  contest.time(kQuadrantTimes, run.quick ? kQuick : kUsual);
}

}  // namespace lockstep::cli
