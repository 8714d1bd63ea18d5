// The report of conv-multicore, from its results: Tables III and IV and the two figures of the paper, ours beside them.

#include <numeric>

#include <fmt/format.h>

#include "cli/reproduce/conv_image.hpp"
#include "cli/reproduce/conv_multicore/experiment.hpp"
#include "cli/reproduce/conv_multicore/published.hpp"
#include "cli/reproduce/timing.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/parallel/team.hpp"

namespace lockstep::cli {

using namespace report;  // NOLINT(google-build-using-namespace): the words of documents

namespace {

namespace published = conv_published;

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
Table run_table(const Scaling& scaling, bool with_published) {
  Table table{.title = fmt::format("Seconds per image, run by run: {}", scaling.title), .columns = {column("Run")}};
  const std::size_t runs = published::kSeconds[0].size();
  for (std::size_t i = 0; i < runs; ++i) table.rows.push_back({.cells = {std::to_string(i + 1)}});
  table.rows.push_back({.cells = {"average"}});
  table.rows.push_back({.cells = {"median"}});
  Row &averages = table.rows[runs], &medians = table.rows[runs + 1];
  for (std::size_t c = 0; with_published && c < published::kCores.size(); ++c) {
    const auto& samples = published::kSeconds[c];
    const int cores = published::kCores[c];
    table.columns.push_back({.title = fmt::format("{} core{}", cores, cores == 1 ? "" : "s"),
                             .unit = "published",
                             .format = fixed(3),
                             .key = fmt::format("published_{}", cores)});
    for (std::size_t i = 0; i < runs; ++i) table.rows[i].cells.push_back(Cell(samples[i]).marked(Mark::published));
    averages.cells.push_back(Cell(published::kAverage[c]).as(fixed(4)).marked(Mark::published));
    medians.cells.push_back(Cell(median({samples.begin(), samples.end()})).marked(Mark::published));
  }
  bool more = false;
  for (const WorkersLine& each : scaling.results) {
    const bool beyond = each.workers > cores_of(each);
    more = more || beyond;
    table.columns.push_back(
        column(label(scaling, each) + (beyond ? "*" : ""), fixed(3), fmt::format("workers_{}", each.workers)));
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
Table speed_up_table(const std::vector<Scaling>& scalings) {
  Table table{.title = "Speed-up from one number of cores to another",
              .columns = {column("From"), column("To"), column("Ideal", fixed(0)), column("Published", fixed(3))}};
  for (const Scaling& each : scalings) table.columns.push_back(column(each.title, fixed(3)));
  for (const published::SpeedUp& theirs : published::kSpeedUps) {
    Row row{.cells = {theirs.from, theirs.to, static_cast<double>(theirs.to) / theirs.from,
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

Axis worker_axis(std::string title) { return {.title = std::move(title), .scale = Scale::log, .ticks = {1, 2, 4, 8}}; }

/// The two figures: seconds per image, and speed-up with the ideal line.
Panels figures(const std::vector<Scaling>& scalings) {
  LineChart time{.title = "Time per image",
                 .description = "Seconds per image over the number of workers, published and measured.",
                 .x = worker_axis("cores, threads or ranks"),
                 .y = {.title = "seconds per image", .scale = Scale::log}};
  LineChart ratio{.title = "Speed-up, ideal and actual",
                  .description = "Speed-up against one worker over the number of workers, with the ideal line.",
                  .x = worker_axis("cores, threads or ranks"),
                  .y = worker_axis("speed-up against 1")};  // both logarithmic: the ideal is straight
  LineSeries theirs{.name = "published", .tone = Tone::published, .kind = LineKind::predicted};
  LineSeries their_ratio = theirs;
  LineSeries ideal{.name = "ideal", .tone = Tone::neutral, .kind = LineKind::ideal};
  for (std::size_t i = 0; i < published::kCores.size(); ++i) {
    const double cores = published::kCores[i];
    theirs.points.push_back({cores, published::kAverage[i]});
    their_ratio.points.push_back({cores, published::kAverage[0] / published::kAverage[i]});
    ideal.points.push_back({cores, cores});
  }
  time.series = {std::move(theirs)};
  ratio.series = {std::move(ideal), std::move(their_ratio)};
  for (const Scaling& each : scalings) {
    if (each.results.empty()) continue;
    LineSeries seconds{.name = each.title, .tone = each.tone}, times{.name = each.title, .tone = each.tone};
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
void add_software(const std::vector<SoftwareLine>& results, Document& document) {
  if (results.empty()) return;
  Table table{.title = "The same convolution in other software",
              .columns = {column("Software"), column("Version"), column("Time per image", seconds()),
                          column("GFLOP/s", fixed(1)), column("Against SIMD, 1 thread", ratio()),
                          column("Largest difference", scientific(1))}};
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
             published::kAverage[0], kImageFlops / published::kAverage[0] * 1e-9, cores, cores == 1 ? "" : "s",
             cores < 8 ? "; numbers for more workers are marked" : "");
}

}  // namespace

void describe_conv(const Findings& findings, Document& document) {
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
      .add(Paragraph{seen(scalings, findings.find_line<PictureRecord>(kConvPicture))})
      .add(figures(scalings));
  Section& tables = document.section("Tables III and IV of the paper");
  for (const Scaling& each : scalings) tables.add(run_table(each, &each == &scalings.front()));
  tables.add(speed_up_table(scalings));
  tables.add(Paragraph{
      "Ranks keep the outputs of their kernels, as the ranks of a split layer do: the 461 MB of all outputs are not "
      "collected, and the slowest rank counts. The paper's cluster part uses Java's remote method invocation; its "
      "times are not in its tables."});
  add_software(findings.series<SoftwareRecord>(kConvPeers), document);
}

}  // namespace lockstep::cli
