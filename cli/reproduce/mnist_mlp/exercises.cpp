// max and X X^T of mnist-mlp: measured by `lockstep bench`, shown beside the published times.

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "cli/reproduce/mnist_mlp/experiment.hpp"
#include "cli/reproduce/mnist_mlp/published.hpp"
#include "cli/reproduce/rungs.hpp"
#include "cli/reproduce/timing.hpp"
#include "lockstep/core/error.hpp"

namespace lockstep::cli {

using namespace report;  // NOLINT(google-build-using-namespace): the words of documents

namespace {

namespace published = mnist_published;

void keep_results(const ExperimentRun& run, const PrimitiveTimes& times, int cpus, const Device* device) {
  const std::string series = fmt::format("{} {}", times.name, times.shape);
  for (const PrimitiveResult& each : times.results) {
    const PrimitiveSubject& subject = each.subject;
    ExerciseRecord record{.kernel = {.threads = subject.threads},
                          .variant = subject.name,
                          .result = each.result,
                          .limit = each.why,
                          .sort = subject.kind,
                          .processors = cpus,
                          .calls_per_sample = double(each.calls),
                          .part = each.part,
                          .flops = subject.cost.flops,
                          .bytes = subject.cost.bytes};
    if (subject.blocks > 0) record.blocks = subject.blocks;
    if (device && subject.kind == PrimitiveKind::device) {
      const DeviceInfo& info = device->info();
      record.kernel = {info.backend, subject.threads, info.name, info.kind};
    }
    Result result =
        line_of("measurement",
                subject.blocks > 0 ? fmt::format("{}: {}, {} blocks", series, subject.name, subject.blocks)
                                   : fmt::format("{}: {}, {} threads", series, subject.name, subject.threads),
                record);
    result.samples = each.samples;
    result.kernels = {subject.kernel};
    run.keep(std::move(result));
  }
  for (const std::string& line : times.left_out) run.left_out(series, line);
}

/// What every variant is compared with.
const ExerciseLine& trivial_of(const std::vector<ExerciseLine>& results) {
  if (const ExerciseLine* const found = first_of_kind(results, PrimitiveKind::trivial)) return *found;
  throw Error(ErrorCode::data, "results.jsonl: an exercise lacks its trivial loops; measure again");
}

Tone tone(const ExerciseRecord& exercise) {
  switch (exercise.sort) {
    case PrimitiveKind::simd:
      return exercise.kernel.threads > 1 ? Tone::threads : Tone::simd;
    case PrimitiveKind::device:
      return Tone::device;
    case PrimitiveKind::library:
    case PrimitiveKind::python_library:
      return Tone::library;
    case PrimitiveKind::python:
    case PrimitiveKind::trivial:
    case PrimitiveKind::unoptimised:
      return Tone::naive;
  }
  return Tone::naive;
}

std::string where(const ExerciseRecord& exercise) {
  if (exercise.blocks) return fmt::format("{} blocks", *exercise.blocks);
  const int threads = exercise.kernel.threads;
  return fmt::format("{}{}", threads, threads > exercise.processors.value_or(threads) ? "*" : "");
}

/// Ours and the published times, for as many calls as were published.
void add_table(const std::string& exercise, const std::vector<ExerciseLine>& results, int calls,
               std::span<const published::Exercise> theirs, Section& section) {
  const ExerciseLine* python = first_of_kind(results, PrimitiveKind::python);
  const ExerciseLine& trivial = trivial_of(results);
  Table table{.title = fmt::format("{}: {}, the best of three", exercise,
                                   calls == 1 ? "one call" : fmt::format("{} calls", calls)),
              .columns = {column("Variant"),
                          {.title = "Threads", .align = Align::right},
                          column("Time", seconds()),
                          column("Against Python", ratio()),
                          column("Against trivial loops", ratio()),
                          column("Result"),
                          column("What limits it")}};
  BarChart chart{.title = fmt::format("{}: against the compiled trivial loops", exercise),
                 .description = "A bar per variant.",
                 .axis = {.title = "times as fast", .scale = Scale::log, .format = ratio()}};
  for (const published::Exercise& each : theirs)
    table.rows.push_back(
        {.cells = {each.variant, "1", each.seconds}, .mark = Mark::published, .tone = Tone::published});
  for (const ExerciseLine& each : results) {
    const double seconds = best_of(each);
    const bool same = each.result == "same";
    table.rows.push_back(
        {.cells = {Cell(each.variant).noted(device_text(each.kernel)), where(each), calls * seconds,
                   python == nullptr ? Cell() : Cell(best_of(*python) / seconds), best_of(trivial) / seconds,
                   same ? Cell("same").marked(Mark::same) : Cell(each.result), each.limit},
         .mark = &each == &trivial ? Mark::baseline : Mark::none,
         .tone = tone(each)});
    if (each.sort != PrimitiveKind::python)
      chart.groups.push_back({.label = fmt::format("{}, {}", each.variant, where(each)),
                              .bars = {best_of(trivial) / seconds},
                              .tone = tone(each)});
  }
  table.notes = {
      "*: more threads than processors. Result: beside the trivial loops, bit by bit; Python's were checked in Python. "
      "Calls that would take long were fewer and scaled; results.jsonl has every sample."};
  section.add(std::move(table)).add(std::move(chart));
}

/// From the trivial version to the fastest here, by both baselines.
std::string fastest_words(const std::string& exercise, const std::vector<ExerciseLine>& results) {
  const ExerciseLine* python = first_of_kind(results, PrimitiveKind::python);
  const ExerciseLine& trivial = trivial_of(results);
  const ExerciseLine& fastest = fastest_of(results);
  return fmt::format(" {}: the fastest here ({}, {}) is {}{} times as fast as the compiled loops.", exercise,
                     fastest.variant, where(fastest),
                     python == nullptr ? ""
                                       : fmt::format("{} times as fast as the interpreted and ",
                                                     ratio_text(best_of(*python) / best_of(fastest))),
                     ratio_text(best_of(trivial) / best_of(fastest)));
}

}  // namespace

double best_of(const Result& result) {
  static_cast<void>(median_of(result));  // refuses a result without samples
  return *std::min_element(result.samples.begin(), result.samples.end());
}

const ExerciseLine* first_of_kind(const std::vector<ExerciseLine>& results, PrimitiveKind kind) {
  return first_where(results, [&](const ExerciseRecord& each) { return each.sort == kind; });
}

const ExerciseLine& fastest_of(const std::vector<ExerciseLine>& results) {
  return *std::min_element(results.begin(), results.end(),
                           [](const Result& a, const Result& b) { return best_of(a) < best_of(b); });
}

void measure_exercises(const ExperimentRun& run) {
  run.progress("the exercises max and X X^T, on 1, 2, 4 and 8 threads");
  PrimitiveOptions options{.quick = run.quick};
  const PrimitiveLimits limits = measure_primitive_limits(options);
  const Device* const device = options.device.get();
  keep_results(run, measure_max(options, limits, run.console), limits.cpus, device);
  keep_results(run, measure_xxt(784, 128, options, limits, run.console), limits.cpus, device);
  if (!run.quick) keep_results(run, measure_xxt(1000, 1000, options, limits, run.console), limits.cpus, device);
}

void describe_exercises(const Findings& findings, Document& document) {
  Section& section = document.section("The exercises: max(A, B) and X X^T");
  std::string words = fmt::format(
      "The assignment asks for \"at least {:.0f} times\" from the trivial version to the GPU. Its trivial version is "
      "interpreted Python: in the published run {:.0f} times lie between those loops and the GPU, and {:.0f} times "
      "between the same loops interpreted and compiled by numba, which is {:.1f} times as fast as the GPU.",
      published::kAskedRatio, published::kMax[0].seconds / published::kMax[2].seconds,
      published::kMax[0].seconds / published::kMax[1].seconds, published::kMax[2].seconds / published::kMax[1].seconds);
  for (const char* const exercise : kExercises)
    if (const auto results = findings.series<ExerciseRecord>(exercise); !results.empty())
      words += fastest_words(exercise, results);
  section.add(Paragraph{std::move(words)});
  for (const char* const exercise : kExercises) {
    const auto results = findings.series<ExerciseRecord>(exercise);
    if (results.empty()) continue;
    const bool max = exercise == kExercises[0], product = exercise == kExercises[1];
    add_table(exercise, results,
              max       ? published::kMaxCalls
              : product ? published::kXxtCalls
                        : 1,
              max       ? std::span<const published::Exercise>(published::kMax)
              : product ? std::span<const published::Exercise>(published::kXxt)
                        : std::span<const published::Exercise>(),
              section);
  }
}

}  // namespace lockstep::cli
