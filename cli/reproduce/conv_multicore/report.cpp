// The report of conv-multicore, from its results: Tables III and IV and the two figures of the paper, ours beside them.

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "cli/reproduce/conv_image.hpp"
#include "cli/reproduce/conv_multicore/experiment.hpp"
#include "cli/reproduce/conv_multicore/published.hpp"
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
  std::vector<WorkersLine> results;
  double factor = 1;  // of the samples, where a part of the kernels was computed
  Tone tone = Tone::threads;
};

double average(const std::vector<double>& samples) {
  return std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(samples.size());
}

/// Cores of the machine where it was measured.
int cores_of(const Result& result) { return result.origin.machine.processors; }

std::string label(const Scaling& scaling, const WorkersLine& line) { return count_of(line.workers, scaling.workers); }

/// As Table III of the paper: a line per run, a column per number of cores.
report::Table run_table(const Scaling& scaling, bool with_published) {
  report::Table table{.title = fmt::format("Seconds per image, run by run: {}", scaling.title),
                      .columns = {{.title = "Run"}}};
  const std::size_t runs = conv_published::kSeconds[0].size();
  for (std::size_t i = 0; i < runs; ++i) table.rows.push_back({.cells = {std::to_string(i + 1)}});
  table.rows.push_back({.cells = {"average"}});
  table.rows.push_back({.cells = {"median"}});
  report::Row &averages = table.rows[runs], &medians = table.rows[runs + 1];
  for (std::size_t c = 0; with_published && c < conv_published::kCores.size(); ++c) {
    const auto& samples = conv_published::kSeconds[c];
    const int cores = conv_published::kCores[c];
    table.columns.push_back({.title = fmt::format("{} core{}", cores, cores == 1 ? "" : "s"),
                             .unit = "published",
                             .format = report::fixed(3),
                             .key = fmt::format("published_{}", cores)});
    for (std::size_t i = 0; i < runs; ++i) table.rows[i].cells.push_back(Cell(samples[i]).marked(Mark::published));
    averages.cells.push_back(Cell(conv_published::kAverage[c]).as(report::fixed(4)).marked(Mark::published));
    medians.cells.push_back(Cell(median({samples.begin(), samples.end()})).marked(Mark::published));
  }
  bool more = false;
  for (const WorkersLine& each : scaling.results) {
    const bool beyond = each.workers > cores_of(each);
    more = more || beyond;
    table.columns.push_back({.title = label(scaling, each) + (beyond ? "*" : ""),
                             .format = report::fixed(3),
                             .key = fmt::format("workers_{}", each.workers)});
    for (std::size_t i = 0; i < runs; ++i)
      table.rows[i].cells.push_back(i < each.samples.size() ? Cell(each.samples[i] * scaling.factor) : Cell());
    averages.cells.emplace_back(average(each.samples) * scaling.factor);
    medians.cells.emplace_back(median_of(each) * scaling.factor);
    if (const Cell middle = time_cell(each); middle.error)
      medians.cells.back().interval(middle.error->low * scaling.factor, middle.error->high * scaling.factor);
  }
  if (more)
    table.notes.push_back(fmt::format("*: more workers than the {} processors of this machine; they take turns.",
                                      cores_of(scaling.results[0])));
  if (scaling.factor != 1)
    table.notes.push_back(fmt::format("Measured on {:.0f} of the 128 kernels and multiplied by {:.0f}.",
                                      128 / scaling.factor, scaling.factor));
  return table;
}

/// As Table IV of the paper.
report::Table speed_up_table(const std::vector<Scaling>& scalings) {
  report::Table table{.title = "Speed-up from one number of cores to another",
                      .columns = {{.title = "From"},
                                  {.title = "To"},
                                  {.title = "Ideal", .format = report::fixed(0)},
                                  {.title = "Published", .format = report::fixed(3)}}};
  for (const Scaling& each : scalings) table.columns.push_back({.title = each.title, .format = report::fixed(3)});
  for (const conv_published::SpeedUp& theirs : conv_published::kSpeedUps) {
    report::Row row{.cells = {theirs.from, theirs.to, static_cast<double>(theirs.to) / theirs.from,
                              Cell(theirs.value).marked(Mark::published)}};
    for (const Scaling& each : scalings) {
      const auto ours = conv_speed_up(each.results, theirs.from, theirs.to);
      Cell cell = ours ? Cell(ours->ratio) : Cell();
      if (!each.results.empty() && theirs.to > cores_of(each.results[0])) cell.marked(Mark::warning);
      row.cells.push_back(std::move(cell));
    }
    table.rows.push_back(std::move(row));
  }
  table.notes = {"Of medians. The published ones are of averages. Warning: more workers than processors."};
  return table;
}

report::Axis worker_axis(std::string title) {
  return {.title = std::move(title), .scale = report::Scale::log, .ticks = {1, 2, 4, 8}};
}

/// The two figures: seconds per image, and speed-up with the ideal line.
report::Panels figures(const std::vector<Scaling>& scalings) {
  report::LineChart time{.title = "Time per image",
                         .description = "Seconds per image over the number of workers, published and measured.",
                         .x = worker_axis("cores, threads or ranks"),
                         .y = {.title = "seconds per image", .scale = report::Scale::log}};
  report::LineChart ratio{.title = "Speed-up, ideal and actual",
                          .description = "Speed-up against one worker over the number of workers, with the ideal line.",
                          .x = worker_axis("cores, threads or ranks"),
                          .y = worker_axis("speed-up against 1")};  // both logarithmic: the ideal is straight
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
    for (const WorkersLine& line : each.results) {
      seconds.points.push_back({double(line.workers), median_of(line) * each.factor});
      times.points.push_back({double(line.workers), median_of(each.results[0]) / median_of(line)});
    }
    time.series.push_back(std::move(seconds));
    ratio.series.push_back(std::move(times));
  }
  return {.charts = {std::move(time), std::move(ratio)}};
}

/// The paper's last phase: other software.
void add_software(const std::vector<SoftwareLine>& results, report::Document& document) {
  if (results.empty()) return;
  report::Table table{.title = "The same convolution in other software",
                      .columns = {{.title = "Software"},
                                  {.title = "Version"},
                                  {.title = "Time per image", .format = report::seconds()},
                                  {.title = "GFLOP/s", .format = report::fixed(1)},
                                  {.title = "Against SIMD, 1 thread", .format = report::ratio()},
                                  {.title = "Largest difference", .format = report::scientific(1)}}};
  for (const SoftwareLine& each : results)
    table.rows.push_back(
        {.cells = {Cell(short_name(each)).noted(each.tried), each.version.empty() ? Cell() : Cell(each.version),
                   time_cell(each), kImageFlops / median_of(each) * 1e-9, median_of(results[0]) / median_of(each),
                   each.largest_difference},
         .mark = &each == results.data() ? Mark::baseline : Mark::none});
  table.notes = {
      "GFLOP/s counts the 27.9 GFLOP of the direct sum for all of them; a transform needs fewer operations. The "
      "difference is that of some outputs from ours: sums in another order. Of every program the fastest of the "
      "variants below its name was taken."};
  document.section("Compared with other software").add(std::move(table));
}

/// The times in words; what they say of the claims stands before them.
std::string seen(const std::vector<Scaling>& scalings, const std::optional<Line<PictureRecord>>& picture) {
  std::string words =
      !picture ? "The picture is made of scrambled numbers that other programs can make as well; `--data PICTURE.png` "
                 "takes another one."
               : fmt::format("The picture is {}, {}x{}, turned grey and resized (bicubic) to the paper's 1280x720.",
                             one_line(picture->file), picture->width, picture->height);
  for (const Scaling& each : scalings) {
    const double seconds = median_of(each.results[0]) * each.factor;
    words += fmt::format(" One image takes {:.3g} s on {} ({}, {:.1f} GFLOP/s).", seconds, label(each, each.results[0]),
                         each.title, kImageFlops / seconds * 1e-9);
  }
  const int cores = cores_of(scalings[0].results[0]);
  return words +
         fmt::format(
             " The paper's Java program took {:.1f} s on one core of 2010 ({:.2f} GFLOP/s). The kernels do not depend "
             "on each other, so the arithmetic sets no limit to the speed-up; memory, the clock and other work of the "
             "machine may. This machine has {} processor{}{}.",
             conv_published::kAverage[0], kImageFlops / conv_published::kAverage[0] * 1e-9, cores,
             cores == 1 ? "" : "s", cores < 8 ? "; numbers for more workers are marked" : "");
}

}  // namespace

void describe_conv(const Findings& findings, report::Document& document) {
  const auto naive = findings.series<WorkersRecord>(kConvNaive);
  const double factor = naive.empty() ? 1 : 128 / naive[0].computed.value_or(128);
  std::vector<Scaling> scalings = {
      {.title = "SIMD, threads",
       .workers = "thread",
       .results = findings.series<WorkersRecord>(kConvThreads),
       .tone = Tone::threads},
      {.title = "SIMD, ranks",
       .workers = "rank",
       .results = findings.series<WorkersRecord>(kConvRanks),
       .tone = Tone::ranks},
      {.title = "plain loops, threads", .workers = "thread", .results = naive, .factor = factor, .tone = Tone::naive}};
  std::erase_if(scalings, [](const Scaling& each) { return each.results.empty(); });
  if (scalings.empty()) return;
  document.section("Time and speed-up")
      .add(report::Paragraph{seen(scalings, findings.find_line<PictureRecord>(kConvPicture))})
      .add(figures(scalings));
  report::Section& tables = document.section("Tables III and IV of the paper");
  for (const Scaling& each : scalings) tables.add(run_table(each, &each == &scalings.front()));
  tables.add(speed_up_table(scalings));
  tables.add(report::Paragraph{
      "Ranks keep the outputs of their kernels, as the ranks of a split layer do: the 461 MB of all outputs are not "
      "collected, and the slowest rank counts. The paper's cluster part uses Java's remote method invocation; its "
      "times are not in its tables."});
  add_software(findings.series<SoftwareRecord>(kConvPeers), document);
}

}  // namespace lockstep::cli
