#include "cli/reproduce/openmp_cuda_pytorch/experiment.hpp"

#include <fmt/format.h>

#include "cli/reproduce/openmp_cuda_pytorch/published.hpp"
#include "cli/reproduce/rungs.hpp"
#include "lockstep/config/config.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/words.hpp"
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

/// All that 32 threads can share: 32 slots of 16 samples.
constexpr std::int64_t kBatch = 512;

/// The deep network, timed in turns.
class DeepContest {
 public:
  explicit DeepContest(const ExperimentRun& run)
      : run_(run), data_(moon_points(run.quick ? kBatch : 1000)), contest_(run, data_) {}

  void add(const std::string& name, Backend backend, int threads, std::int64_t batch = kBatch) {
    if (Variant* const added = contest_.add(name, deep_network(), deep_options(backend, threads, batch)))
      put_record(DeepWork{batch, data_->size(), available_cpus()}, added->line);
  }
  void add(Backend backend, int threads) { add(kernels_on(backend, threads), backend, threads); }

  void time(const std::string& series, double seconds) const {
    contest_.time(series, run_.quick ? SamplingRule{.share = 0.1, .least = 3, .most = 3, .budget_seconds = seconds / 8}
                                     : SamplingRule{.share = 0.03, .least = 6, .most = 20, .budget_seconds = seconds});
  }

 private:
  const ExperimentRun& run_;
  std::shared_ptr<const Dataset> data_;
  TrainingContest contest_;
};

/// forward, backward with the loss, update, reduce; all else is other.
std::optional<double> EpochSections::*section_of(const SectionName& section) {
  using S = EpochSections;
  if (section.phase == "forward") return &S::forward;
  if (section.phase == "backward" || section.name == "loss") return &S::backward;
  return section.name == "update" ? &S::update : section.name == "reduce" ? &S::reduce : &S::other;
}

/// Seconds of an epoch by section, from the spans: means over threads.
void profile(const ExperimentRun& run, const Dataset& data, Backend backend, int threads) {
  const std::int64_t epochs = run.quick ? 1 : backend == Backend::naive ? 3 : 20;
  Network network = deep_network();
  Trainer trainer(network, deep_options(backend, threads, kBatch));
  trainer.fit(data, {.epochs = 1});  // makes buffers
  Profile spans;
  trainer.fit(data, {.epochs = epochs, .profile = &spans});
  SectionRecord record{.kernel = kernel_record(backend, threads)};
  const auto add = [&](std::optional<double>& to, double seconds) { to = to.value_or(0) + seconds / double(epochs); };
  for (const ProfileRow& row : profile_rows(spans)) {
    add(record.seconds.*section_of(row.section), row.seconds);
    add(record.seconds.all, row.seconds);
  }
  run.record(fmt::format("{}: {}", kSectionTimes, kernels_on(backend, threads)), record);
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

void time_threads(const ExperimentRun& run) {
  run.progress("the network of the timings on 1 to 32 threads");
  DeepContest threads(run);
  for (const openmp_published::ThreadTime& each : openmp_published::kThreads)
    if (!run.quick || each.threads <= available_cpus()) threads.add(Backend::naive, each.threads);
  for (const openmp_published::ThreadTime& each : openmp_published::kThreads) threads.add(Backend::simd, each.threads);
  threads.time(kThreadTimes, 120);
  run.progress("plain loops, SIMD, libraries, devices");
  DeepContest kinds(run);
  kinds.add(Backend::naive, 1);
  for (const Backend backend : backends_beside_naive(!run.quick)) kinds.add(backend, 1);
  kinds.time(kKindTimes, 60);
}

void measure_sections(const ExperimentRun& run) {
  run.progress("which section gains most");
  const auto data = moon_points(run.quick ? kBatch : 1000);
  profile(run, *data, Backend::naive, 1);
  if (available_cpus() > 1) profile(run, *data, Backend::naive, available_cpus());
  profile(run, *data, Backend::simd, 1);
  if (available_cpus() > 1) profile(run, *data, Backend::simd, available_cpus());
  try {
    profile(run, *data, Backend::library, 1);
  } catch (const Error& error) {
    run.left_out("sections of library", error.what());
  }
}

void time_batches(const ExperimentRun& run) {
  run.progress("batches of 1 to 512");
  DeepContest contest(run);
  for (std::int64_t batch = 512; batch >= 1; batch /= run.quick ? 8 : 2)
    for (const int threads : available_cpus() > 1 ? std::vector<int>{1, available_cpus()} : std::vector<int>{1})
      contest.add(fmt::format("batch {}, {}", batch, count_of(threads, "thread")), Backend::simd, threads, batch);
  contest.time(kBatchTimes, 60);
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
