// The timings of openmp-cuda-pytorch: threads, kinds of kernels, sections, batches.

#include <algorithm>

#include <fmt/format.h>

#include "cli/reproduce/openmp_cuda_pytorch/experiment.hpp"
#include "cli/reproduce/openmp_cuda_pytorch/published.hpp"
#include "cli/reproduce/rungs.hpp"
#include "cli/reproduce/timing.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/parallel/team.hpp"

namespace lockstep::cli {

namespace {

/// All that 32 threads can share: 32 slots of 16 samples.
constexpr std::int64_t kBatch = 512;

/// Trainings that are timed in turns.
struct Contest {
  const ExperimentRun& run;
  std::shared_ptr<const Dataset> data;
  std::vector<std::unique_ptr<DeepTraining>> trainings{};
  std::vector<Variant> variants{};

  void add(const std::string& name, const TrainOptions& options) {
    try {
      trainings.push_back(std::make_unique<DeepTraining>(*data, options));
    } catch (const Error& error) {
      return run.left_out(name, error.what());
    }
    variants.push_back(
        {.name = name,
         .body = [trainer = trainings.back()->trainer.get(), points = data] { trainer->fit(*points, {.epochs = 1}); },
         .numbers = {{"threads", options.threads},
                     {"batch", double(options.batch)},
                     {"processors", available_cpus()},
                     {"points", double(data->size())}},
         .words = kernel_words(options.backend),
         .weight_hash = trainings.back()->hash});
  }

  void time(const std::string& series, double seconds) const {
    time_variants(run, series, variants,
                  run.quick ? SamplingRule{.share = 0.1, .least = 3, .most = 3, .budget_seconds = seconds / 8}
                            : SamplingRule{.share = 0.03, .least = 6, .most = 20, .budget_seconds = seconds});
  }
};

/// forward, backward with the loss, update, reduce; all else is other.
std::string section_of(const SectionName& section) {
  if (section.phase == "forward" || section.phase == "backward") return section.phase;
  if (section.name == "loss") return "backward";
  return section.name == "update" || section.name == "reduce" ? section.name : "other";
}

/// Seconds of an epoch by section, from the spans: means over threads.
void profile(const ExperimentRun& run, const Dataset& data, Backend backend, int threads) {
  const std::int64_t epochs = run.quick ? 1 : backend == Backend::naive ? 3 : 20;
  DeepTraining training(data, deep_options(backend, threads, kBatch));
  Profile spans;
  training.trainer->fit(data, {.epochs = epochs, .profile = &spans});
  std::map<std::string, double> seconds = {{"threads", threads}};
  for (const ProfileRow& row : profile_rows(spans)) {
    seconds[section_of(row.section)] += row.seconds / double(epochs);
    seconds["all"] += row.seconds / double(epochs);
  }
  run.record(fmt::format("{}: {}", kSectionTimes, kernels_on(backend, threads)), seconds,
             {{"backend", backend_names()[static_cast<std::size_t>(backend)]}});
}

}  // namespace

void time_threads(const ExperimentRun& run) {
  run.progress("the network of the timings on 1 to 32 threads");
  Contest threads{.run = run, .data = moon_points(run.quick ? kBatch : 1000)};
  for (const openmp_published::ThreadTime& each : openmp_published::kThreads)
    if (!run.quick || each.threads <= available_cpus())
      threads.add(kernels_on(Backend::naive, each.threads), deep_options(Backend::naive, each.threads, kBatch));
  for (const openmp_published::ThreadTime& each : openmp_published::kThreads)
    threads.add(kernels_on(Backend::simd, each.threads), deep_options(Backend::simd, each.threads, kBatch));
  threads.time(kThreadTimes, 120);
  run.progress("plain loops, SIMD, libraries, devices");
  Contest kinds{.run = run, .data = threads.data};
  kinds.add(kernels_on(Backend::naive, 1), deep_options(Backend::naive, 1, kBatch));
  for (const Backend backend : backends_beside_naive(!run.quick))
    kinds.add(kernels_on(backend, 1), deep_options(backend, 1, kBatch));
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
  Contest contest{.run = run, .data = moon_points(run.quick ? kBatch : 1000)};
  for (std::int64_t batch = 512; batch >= 1; batch /= run.quick ? 8 : 2)
    for (const int threads : available_cpus() > 1 ? std::vector<int>{1, available_cpus()} : std::vector<int>{1})
      contest.add(fmt::format("batch {}, {}", batch, count_of(threads, "thread")),
                  deep_options(Backend::simd, threads, batch));
  contest.time(kBatchTimes, 60);
}

}  // namespace lockstep::cli
