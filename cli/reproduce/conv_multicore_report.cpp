// The report of conv-multicore, from its results: Tables III and IV and the two figures of the paper, ours beside them.

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "cli/reproduce/conv_image.hpp"
#include "cli/reproduce/conv_multicore.hpp"
#include "cli/reproduce/conv_multicore_published.hpp"
#include "cli/reproduce/timing.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/parallel/team.hpp"

namespace lockstep::cli {

namespace {

using report::Cell;
using report::Mark;
using report::Tone;

/// Seconds per image by number of workers: ours, and theirs beside them.
struct Scaling {
  std::string title;    // "threads"
  const char* workers;  // "thread"
  std::vector<const Result*> results;
  double factor = 1;  // of the samples, where a part of the kernels was computed
  Tone tone = Tone::threads;
};

/// Results come from files, and may claim anything.
int workers_of(const Result& result) {
  return static_cast<int>(std::clamp(result.number("workers").value_or(1), 0.0, 1e6));
}

double average(const std::vector<double>& samples) {
  return std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(samples.size());
}

/// Cores of the machine where it was measured.
int cores_of(const Result& result) { return result.origin.machine.processors; }

std::string label(const Scaling& scaling, const Result& result) {
  const int workers = workers_of(result);
  return count_of(workers, scaling.workers);
}

/// The shape of Table III: a line per number of cores, a column per run.
report::Table run_table(const Scaling& scaling, bool with_published) {
  report::Table table{.title = fmt::format("Seconds per image, run by run: {}", scaling.title),
                      .columns = {{.title = "Workers"}}};
  const std::size_t runs = conv_published::kSeconds[0].size();
  table.columns.push_back({.title = "Average", .format = report::fixed(4)});
  table.columns.push_back({.title = "Median", .format = report::fixed(4)});
  for (std::size_t i = 1; i <= runs; ++i)
    table.columns.push_back({.title = std::to_string(i), .format = report::fixed(3), .key = fmt::format("run_{}", i)});
  for (std::size_t row = 0; with_published && row < conv_published::kCores.size(); ++row) {
    const auto& samples = conv_published::kSeconds[row];
    report::Row line{.cells = {fmt::format("{} core{}", conv_published::kCores[row], row == 0 ? "" : "s")},
                     .mark = Mark::published,
                     .tone = Tone::published};
    line.cells.emplace_back(conv_published::kAverage[row]);
    line.cells.emplace_back(median({samples.begin(), samples.end()}));
    line.cells.insert(line.cells.end(), samples.begin(), samples.end());
    table.rows.push_back(std::move(line));
  }
  bool more = false;
  for (const Result* each : scaling.results) {
    const bool beyond = workers_of(*each) > cores_of(*each);
    more = more || beyond;
    report::Row line{
        .cells = {label(scaling, *each)}, .mark = beyond ? Mark::warning : Mark::none, .tone = scaling.tone};
    line.cells.emplace_back(average(each->samples) * scaling.factor);
    line.cells.emplace_back(median_of(*each) * scaling.factor);
    if (const Cell middle = time_cell(*each); middle.error)
      line.cells.back().interval(middle.error->low * scaling.factor, middle.error->high * scaling.factor);
    for (std::size_t i = 0; i < runs; ++i)
      line.cells.push_back(i < each->samples.size() ? Cell(each->samples[i] * scaling.factor) : Cell());
    table.rows.push_back(std::move(line));
  }
  if (more)
    table.notes.push_back(fmt::format("Warning: more workers than the {} processors of this machine; they take turns.",
                                      cores_of(*scaling.results[0])));
  if (scaling.factor != 1)
    table.notes.push_back(fmt::format("Measured on {:.0f} of the 128 kernels and multiplied by {:.0f}.",
                                      128 / scaling.factor, scaling.factor));
  return table;
}

std::optional<double> speed_up(const Scaling& scaling, int from, int to) {
  std::map<int, double> medians;
  for (const Result* each : scaling.results) medians[workers_of(*each)] = median_of(*each);
  if (medians.count(from) == 0 || medians.count(to) == 0) return std::nullopt;
  return medians[from] / medians[to];
}

/// The shape of Table IV: from so many cores to so many.
report::Table speed_up_table(const std::vector<Scaling>& scalings) {
  report::Table table{.title = "Speed-up from so many cores to so many",
                      .columns = {{.title = "From"},
                                  {.title = "To"},
                                  {.title = "Ideal", .format = report::fixed(0)},
                                  {.title = "Published", .format = report::fixed(3)}}};
  for (const Scaling& each : scalings) table.columns.push_back({.title = each.title, .format = report::fixed(3)});
  for (const conv_published::SpeedUp& theirs : conv_published::kSpeedUps) {
    report::Row row{.cells = {theirs.from, theirs.to, static_cast<double>(theirs.to) / theirs.from,
                              Cell(theirs.value).marked(Mark::published)}};
    for (const Scaling& each : scalings) {
      Cell cell(speed_up(each, theirs.from, theirs.to));
      if (!each.results.empty() && theirs.to > cores_of(*each.results[0])) cell.marked(Mark::warning);
      row.cells.push_back(std::move(cell));
    }
    table.rows.push_back(std::move(row));
  }
  table.notes = {"Of medians. The published ones are of averages. Warning: more workers than processors."};
  return table;
}

report::Axis worker_axis() {
  return {.title = "cores, threads or ranks", .scale = report::Scale::log, .ticks = {1, 2, 4, 8}};
}

/// The two figures: seconds per image, and speed-up with the ideal line.
report::Panels figures(const std::vector<Scaling>& scalings) {
  report::LineChart time{.title = "Time per image",
                         .description = "Seconds per image over the number of workers, published and measured.",
                         .x = worker_axis(),
                         .y = {.title = "seconds per image", .scale = report::Scale::log}};
  report::LineChart ratio{.title = "Speed-up, ideal and actual",
                          .description = "Speed-up against one worker over the number of workers, with the ideal line.",
                          .x = worker_axis(),
                          .y = {.title = "speed-up against 1", .low = 0}};
  report::LineSeries theirs{.name = "published", .tone = Tone::published, .kind = report::LineKind::predicted};
  report::LineSeries their_ratio = theirs;
  report::LineSeries ideal{.name = "ideal", .tone = Tone::neutral, .kind = report::LineKind::ideal};
  for (std::size_t i = 0; i < conv_published::kCores.size(); ++i) {
    const double cores = conv_published::kCores[i];
    theirs.points.push_back({cores, conv_published::kAverage[i]});
    their_ratio.points.push_back({cores, conv_published::kAverage[0] / conv_published::kAverage[i]});
    ideal.points.push_back({cores, cores});
  }
  time.series = {std::move(theirs)};
  ratio.series = {std::move(ideal), std::move(their_ratio)};
  for (const Scaling& each : scalings) {
    if (each.results.empty()) continue;
    report::LineSeries seconds{.name = each.title, .tone = each.tone}, times{.name = each.title, .tone = each.tone};
    for (const Result* result : each.results) {
      seconds.points.push_back({static_cast<double>(workers_of(*result)), median_of(*result) * each.factor});
      times.points.push_back(
          {static_cast<double>(workers_of(*result)), median_of(*each.results[0]) / median_of(*result)});
    }
    time.series.push_back(std::move(seconds));
    ratio.series.push_back(std::move(times));
  }
  return {.charts = {std::move(time), std::move(ratio)}};
}

/// The paper's last phase: other software.
void add_software(const std::vector<const Result*>& results, report::Document& document) {
  if (results.empty()) return;
  report::Table table{.title = "The same convolution in other software",
                      .columns = {{.title = "Software"},
                                  {.title = "Version"},
                                  {.title = "Time per image", .format = report::seconds()},
                                  {.title = "GFLOP/s", .format = report::fixed(1)},
                                  {.title = "Against SIMD, 1 thread", .format = report::ratio()},
                                  {.title = "Largest difference", .format = report::scientific(1)}}};
  for (const Result* each : results)
    table.rows.push_back(
        {.cells = {short_name(*each), each->word("version").empty() ? Cell() : Cell(each->word("version")),
                   time_cell(*each), kImageFlops / median_of(*each) * 1e-9, median_of(*results[0]) / median_of(*each),
                   each->number("largest_difference")},
         .mark = each == results[0] ? Mark::baseline : Mark::none});
  table.notes = {
      "GFLOP/s counts the 27.9 GFLOP of the direct sum for all of them; a transform needs fewer operations. The "
      "difference is that of some outputs from ours: sums in another order."};
  document.section("Compared with other software").add(std::move(table));
}

std::string verdict(const std::vector<Scaling>& scalings, double naive_seconds) {
  const Scaling& threads = scalings[0];
  const int cores = cores_of(*threads.results[0]);
  const double one = median_of(*threads.results[0]);
  std::string words = fmt::format(
      "One image takes {:.3f} s on one thread with SIMD kernels ({:.1f} GFLOP/s) and about {:.1f} s with plain loops; "
      "the "
      "paper's Java program took {:.1f} s on one core of 2010 ({:.2f} GFLOP/s). ",
      one, kImageFlops / one * 1e-9, naive_seconds, conv_published::kAverage[0],
      kImageFlops / conv_published::kAverage[0] * 1e-9);
  if (const auto two = speed_up(threads, 1, 2); two && cores >= 2)
    words += fmt::format("Two threads bring {:.2f}x, where the paper has {:.2f}x. ", *two,
                         conv_published::kSpeedUps[0].value);
  words += fmt::format(
      "The kernels do not depend on each other, so nothing but memory, the clock and the other work of the machine "
      "keeps "
      "the speed-up from the ideal. This machine has {}: {}",
      count_of(cores, "processor"),
      cores < 8 ? "beyond that the workers take turns, and the numbers are marked."
                : "all numbers of workers have processors of their own.");
  return words;
}

}  // namespace

void describe_conv(const Findings& findings, report::Document& document) {
  const auto naive = findings.series(kConvNaive);
  const double factor = naive.empty() ? 1 : 128 / naive[0]->number("kernels").value_or(128);
  std::vector<Scaling> scalings = {
      {.title = "SIMD, threads", .workers = "thread", .results = findings.series(kConvThreads), .tone = Tone::threads},
      {.title = "SIMD, ranks", .workers = "rank", .results = findings.series(kConvRanks), .tone = Tone::ranks},
      {.title = "plain loops, threads", .workers = "thread", .results = naive, .factor = factor, .tone = Tone::naive}};
  std::erase_if(scalings, [](const Scaling& each) { return each.results.empty(); });
  if (scalings.empty()) return;
  document.section("What is seen")
      .add(report::Paragraph{verdict(scalings, naive.empty() ? NAN : median_of(*naive[0]) * factor)})
      .add(figures(scalings));
  report::Section& tables = document.section("Tables III and IV of the paper");
  for (const Scaling& each : scalings) tables.add(run_table(each, &each == &scalings.front()));
  tables.add(speed_up_table(scalings));
  tables.add(report::Paragraph{
      "Ranks keep the outputs of their kernels, as the ranks of a split layer do: the 461 MB of all outputs are not "
      "collected, and the slowest rank counts. The paper's cluster part uses Java's remote method invocation; its "
      "times "
      "are not in its tables."});
  add_software(findings.series(kConvPeers), document);
}

}  // namespace lockstep::cli
