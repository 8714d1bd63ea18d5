#include "cli/reproduce/cuda_quadrants/experiment.hpp"

#include <cmath>

#include <fmt/format.h>

#include "cli/reproduce/cuda_quadrants/published.hpp"
#include "cli/reproduce/timing.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/parallel/team.hpp"

namespace lockstep::cli {

namespace {

constexpr std::int64_t kBatches = 200, kBatch = kQuadrantBatch, kEpochs = 10;

// The points and weights of the published run come from generators that no configuration names: this one has its
// network, sizes and rate, with points and weights of Lockstep's own generator.
constexpr const char* kConfig =
    R"(# cuda-quadrants: the published set-up. The experiment itself draws points and weights
# as the published program does (C library's rand(), std::normal_distribution); `lockstep train` of this file
# draws them from the seed.
[data]
source = "quadrants"
count = 203776               # 199 batches of 1024
test_count = 1024
seed = 1

[model]
input = [2]
layers = [{linear = 20}, "relu", {linear = 1}, "sigmoid"]
init = {name = "normal", scale = 0.01}

[train]
loss = "binary-cross-entropy"
optimizer = {name = "sgd", lr = 0.1}
batch = 1024
shuffle = false
epochs = 10
seed = 1
)";

/// z = 0 exactly, where the published ReLU passes a gradient and ours does not: how many of the training points have it
/// in some hidden unit.
std::int64_t count_exact_zeros(const Network& network, const Dataset& data) {
  const float* const w = network.data<float>() + network.parameters()[0].offset;
  const float* const b = network.data<float>() + network.parameters()[1].offset;
  std::vector<float> x(static_cast<std::size_t>(2 * kBatch));
  std::vector<std::int64_t> ids(kBatch);
  std::int64_t zeros = 0;
  for (std::int64_t first = 0; first < data.size(); first += kBatch) {
    for (std::int64_t j = 0; j < kBatch; ++j) ids[static_cast<std::size_t>(j)] = first + j;
    data.gather(ids, dense_matrix(x.data(), 2, kBatch));
    for (std::int64_t j = 0; j < kBatch; ++j)
      for (std::int64_t k = 0; k < 20; ++k)
        zeros += std::fma(w[2 * k + 1], x[static_cast<std::size_t>(kBatch + j)],
                          std::fma(w[2 * k], x[static_cast<std::size_t>(j)], b[k])) == 0;
  }
  return zeros;
}

/// Test loss and accuracy by epoch.
void follow_series(const ExperimentRun& run, const QuadrantData& data) {
  run.progress("ten epochs beside the published losses");
  const QuadrantSeries series = train_published_quadrants(data, Backend::simd, kEpochs);
  const std::int64_t zeros =
      count_exact_zeros(published_quadrant_network(), *data.train) + count_exact_zeros(series.network, *data.train);
  Result result = line_of("curve", kQuadrantCurve, QuadrantCurve{zeros, series.loss, series.accuracy});
  result.weight_hash = series.hash;
  run.keep(std::move(result));
}

const SamplingRule kUsual{.share = 0.02, .least = 6, .most = 40, .budget_seconds = 60};
const SamplingRule kQuick{.share = 0.05, .least = 3, .most = 9, .budget_seconds = 12};

std::string words_for(Backend backend, int threads) {
  const std::string kind = backend == Backend::naive_o0 ? "plain loops -O0"
                           : backend == Backend::naive  ? "plain loops -O3"
                           : backend == Backend::simd   ? "SIMD"
                                                        : backend_info(backend).name;
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
  all.insert(all.end(), {{Backend::library, 1}, {Backend::opencl, 1}, {Backend::cuda, 1}});
  return all;
}

/// The same epoch by every kind of kernel, the unoptimised and the optimised plain loops first, then SIMD.
void time_quadrants(const ExperimentRun& run, const QuadrantData& data) {
  run.progress("one epoch by every kind of kernel, in turns");
  TrainingContest contest(run, data.train);
  for (const Choice& choice : choices())
    contest.add(words_for(choice.backend, choice.threads), published_quadrant_network(),
                quadrant_options(choice.backend, choice.threads));
  contest.time(kQuadrantTimes, run.quick ? kQuick : kUsual);
}

void measure_quadrants(const ExperimentRun& run) {
  const QuadrantData data = published_quadrants(kBatches, kBatch);
  follow_series(run, data);
  profile_quadrants(run, data);
  time_quadrants(run, data);
}

}  // namespace

Experiment cuda_quadrants() {
  return {.name = "cuda-quadrants",
          .title = "points of a square: the losses digit by digit, Amdahl's bound, and the baseline of a 32x",
          .paper = quadrants_published::kPaper,
          .time = "about 10 s; with --quick less",
          .config = kConfig,
          .measure = measure_quadrants,
          .claims = quadrant_claims(),
          .describe = describe_quadrants};
}

}  // namespace lockstep::cli
