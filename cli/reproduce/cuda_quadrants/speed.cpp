#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "cli/reproduce/cuda_quadrants/parts.hpp"
#include "cli/reproduce/rungs.hpp"
#include "cli/reproduce/timing.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/parallel/team.hpp"

namespace lockstep::cli {

namespace {

const SamplingRule kUsual{.share = 0.02, .least = 6, .most = 40, .budget_seconds = 60};
const SamplingRule kQuick{.share = 0.05, .least = 3, .most = 9, .budget_seconds = 12};

/// A training that goes on epoch by epoch.
struct Contender {
  Network network = published_quadrant_network();
  std::unique_ptr<Trainer> trainer;
  std::string hash;  // after the first epoch

  Contender(const QuadrantData& data, Backend backend, int threads)
      : trainer(std::make_unique<Trainer>(network, quadrant_options(backend, threads))) {
    hash = trainer->fit(*data.train, {.epochs = 1}).back().weight_hash;
  }
};

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
  std::vector<std::unique_ptr<Contender>> contenders;
  std::vector<Variant> variants;
  for (const Choice& choice : choices()) {
    const std::string name = words_for(choice.backend, choice.threads);
    try {
      contenders.push_back(std::make_unique<Contender>(data, choice.backend, choice.threads));
    } catch (const Error& error) {
      run.left_out(name, error.what());
      continue;
    }
    Trainer* const trainer = contenders.back()->trainer.get();
    variants.push_back({.name = name,
                        .body = [trainer, &data] { trainer->fit(*data.train, {.epochs = 1}); },
                        .numbers = {{"threads", choice.threads}},
                        .words = kernel_words(choice.backend),
                        .weight_hash = contenders.back()->hash});
  }
  time_variants(run, kQuadrantTimes, variants, run.quick ? kQuick : kUsual);
}

}  // namespace lockstep::cli
