#include "cli/reproduce/openmp_cuda_pytorch/experiment.hpp"

#include <fmt/format.h>

#include "cli/reproduce/openmp_cuda_pytorch/published.hpp"
#include "cli/reproduce/rungs.hpp"
#include "lockstep/config/config.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/parallel/team.hpp"

namespace lockstep::cli {

namespace {

constexpr double kGoal = 0.99;

constexpr const char* kConfig =
    R"(# openmp-cuda-pytorch: moons on 2-3-3-1. The timings use the same points on 2-300-300-300-300-300-300-1.
[data]
source = "moons"
count = 1000
test_count = 1000
noise = 0.1
seed = 1

[model]
sizes = "2-3-3-1"
activation = "sigmoid"
output = "sigmoid"
init = "xavier-normal"

[train]
loss = "binary-cross-entropy"
optimizer = {name = "adam", lr = 0.05}
batch = 50
epochs = 200
seed = 1
)";

void train_moons(const ExperimentRun& run, const DataSplits& data, Backend backend, int threads) {
  RunConfig config = parse_config(kConfig, "openmp-cuda-pytorch");
  config.train.backend = backend;
  config.train.threads = threads;
  Network network = make_network(config);
  Trainer trainer(network, config.train);
  MoonRecord record{.kernel = kernel_record(backend, threads)};
  std::string hash;
  trainer.fit(*data.train,
              {.epochs = config.epochs, .validation = data.test.get(), .on_epoch = [&](const EpochReport& report) {
                 record.accuracy.push_back(report.validation->accuracy().value_or(0));
                 if (!record.reached_in_epoch && record.accuracy.back() >= kGoal)
                   record.reached_in_epoch = report.epoch;
                 record.seconds += report.times.total;
                 hash = report.weight_hash;
               }});
  Result result = line_of("curve", fmt::format("{}: {}", kMoonCurves, kernels_on(backend, threads)), record);
  result.weight_hash = hash;
  result.configuration = resolved_toml(config);
  run.keep(std::move(result));
}

}  // namespace

Network deep_network() {
  return Network::from_sizes({2, 300, 300, 300, 300, 300, 300, 1}, Sigmoid{}, Sigmoid{}, Precision::float32,
                             {.kind = InitKind::xavier_uniform});
}

TrainOptions deep_options(Backend backend, int threads, std::int64_t batch) {
  return {
      .loss = Loss::squared_error, .optimizer = Sgd{.lr = 0.1}, .batch = batch, .backend = backend, .threads = threads};
}

std::int64_t moon_epochs() { return parse_config(kConfig, "openmp-cuda-pytorch").epochs; }

std::shared_ptr<const Dataset> moon_points(std::int64_t count) {
  DataConfig config = parse_config(kConfig, "openmp-cuda-pytorch").data;
  config.count = count;
  return load_data(config).train;
}

void measure_moons(const ExperimentRun& run) {
  run.progress("moons on 2-3-3-1 to 99 %");
  const DataSplits data = load_data(parse_config(kConfig, "openmp-cuda-pytorch").data);
  const auto add = [&](Backend backend, int threads) {
    try {
      train_moons(run, data, backend, threads);
    } catch (const Error& error) {
      run.left_out("moons by " + kernels_on(backend, threads), error.what());
    }
  };
  add(Backend::naive, 1);
  for (const Backend backend : backends_beside_naive(false)) add(backend, 1);
  if (available_cpus() > 1) add(Backend::simd, available_cpus());
}

Experiment openmp_cuda_pytorch() {
  return {
      .name = "openmp-cuda-pytorch",
      .title =
          "One network serially, on threads, on a device, by libraries and in PyTorch: moons to 99 %, the published "
          "thread table, batches of 1 to 512, and why the published timings computed on NaN",
      .paper = openmp_published::kPaper,
      .time = "about 2 min; with --quick less",
      .config = kConfig,
      .measure =
          [](const ExperimentRun& run) {
            for (const auto part :
                 {measure_moons, time_threads, measure_sections, time_batches, time_pytorch, measure_not_a_number})
              part(run);
          },
      .claims = openmp_claims(),
      .describe =
          [](const Findings& findings, report::Document& document) {
            for (const auto part : {describe_moons, describe_threads, describe_sections, describe_batches,
                                    describe_pytorch, describe_not_a_number})
              part(findings, document);
          }};
}

}  // namespace lockstep::cli
