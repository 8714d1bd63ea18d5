#include "cli/reproduce/mnist_mlp/experiment.hpp"

#include <array>
#include <cstdlib>
#include <span>

#include <fmt/format.h>

#include "cli/reproduce/mnist_mlp/published.hpp"
#include "cli/reproduce/timing.hpp"
#include "lockstep/config/config.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/parallel/team.hpp"
#include "lockstep/train/trainer.hpp"

namespace lockstep::cli {

namespace {

constexpr std::array<std::uint64_t, 3> kSeeds = {1, 2, 3};

constexpr const char* kConfig =
    R"(# mnist-mlp: 784-128-64-10, sigmoids, the error (a - y) s'(z): the gradient of half the squared distance.
[data]
source = "mnist"
scale = 256                               # pixels become k/256
split = {train = 50000, validation = 10000}

[model]
sizes = "784-128-64-10"
activation = "sigmoid"
output = "sigmoid"
init = "fan-in-uniform"                   # uniform in +-1/sqrt(inputs of the layer); biases 0

[train]
loss = "squared-error"
optimizer = {name = "sgd", lr = 0.1}
batch = 16
reduction = "sum"                         # gradients of a batch are added, not averaged
epochs = 5
seed = 1
)";

RunConfig config_with(const std::vector<std::string>& changes) { return parse_config(kConfig, "mnist-mlp", changes); }

/// Five epochs, the accuracy after each.
void train_digits(const ExperimentRun& run, const DataSplits& data, std::uint64_t seed) {
  run.progress(fmt::format("five epochs, seed {}", seed));
  const RunConfig config = config_with({fmt::format("train.seed={}", seed)});
  Network network = make_network(config);
  Trainer trainer(network, config.train);
  MnistCurve curve;
  std::string hash;
  trainer.fit(
      *data.train,
      {.epochs = config.epochs, .validation = data.validation.get(), .on_epoch = [&](const EpochReport& report) {
         curve.validation_accuracy.push_back(report.validation->accuracy().value_or(0));
         curve.epoch_seconds.push_back(report.times.total);
         hash = report.weight_hash;
       }});
  curve.test_accuracy = trainer.evaluate(*data.test).accuracy().value_or(0);
  Result result = line_of("curve", fmt::format("{}: seed {}", kMnistCurves, seed), curve);
  result.weight_hash = hash;
  result.configuration = resolved_toml(config);
  result.seed = seed;
  run.keep(std::move(result));
}

/// The same epoch on plain loops, SIMD, threads, and what else there is.
void time_digits(const ExperimentRun& run) {
  run.progress("an epoch of 5,000 digits by every kind of kernel, in turns");
  const RunConfig config = config_with({"data.limit=6000", "data.split={train = 5000, validation = 1000}"});
  const DataSplits data = load_data(config.data);
  TrainingContest contest(run, data.train);
  const auto add = [&](Backend backend, int threads) {
    TrainOptions options = config.train;
    options.backend = backend;
    options.threads = threads;
    contest.add(kernels_on(backend, threads), make_network(config), options);
  };
  add(Backend::naive, 1);
  for (const Backend backend : backends_beside_naive(false)) add(backend, 1);
  if (available_cpus() > 1) add(Backend::simd, available_cpus());
  contest.time(kMnistTimes, run.quick ? SamplingRule{.share = 0.1, .least = 3, .most = 5, .budget_seconds = 10}
                                      : SamplingRule{.share = 0.03, .least = 6, .most = 20, .budget_seconds = 60});
}

void measure_digits(const ExperimentRun& run) {
  if (!run.data.empty()) ::setenv("LOCKSTEP_DATA_DIR", run.data.c_str(), 1);
  try {
    const DataSplits data = load_data(config_with({}).data);
    for (const std::uint64_t seed : std::span(kSeeds).first(run.quick ? 1 : kSeeds.size()))
      train_digits(run, data, seed);
    time_digits(run);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::data) throw;
    run.left_out(kMnistCurves,
                 fmt::format("{}; --data DIR names a folder that has it. Fashion-MNIST is another task and says "
                             "nothing about the claim",
                             error.what()));
  }
  measure_exercises(run);
}

}  // namespace

Experiment mnist_mlp() {
  return {.name = "mnist-mlp",
          .title =
              "Three layers of sigmoids on handwritten digits: above 95 % from the third epoch; and the exercises max "
              "and X X^T on 1, 2, 4 and 8 threads",
          .paper = mnist_published::kPaper,
          .time = "about 70 s; with --quick less",
          .config = kConfig,
          .data = "a folder that has MNIST",
          .measure = measure_digits,
          .claims = mnist_claims(),
          .describe = [](const Findings& findings, report::Document& document) {
            describe_mnist(findings, document);
            describe_exercises(findings, document);
          }};
}

}  // namespace lockstep::cli
