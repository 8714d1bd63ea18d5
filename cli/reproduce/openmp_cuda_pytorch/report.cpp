// The report of openmp-cuda-pytorch, from its results: moons, threads, sections, batches.

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "cli/reproduce/openmp_cuda_pytorch/experiment.hpp"
#include "cli/reproduce/openmp_cuda_pytorch/published.hpp"
#include "lockstep/core/words.hpp"

namespace lockstep::cli {

using namespace report;  // NOLINT(google-build-using-namespace): the words of documents

namespace {

namespace published = openmp_published;

/// The one by these kernels in batches of this size on `threads`; null: not measured.
const DeepLine* find_by(const std::vector<DeepLine>& lines, std::int64_t batch, int threads,
                        const std::string& backend = "simd") {
  return first_where(lines, [&](const DeepRecord& each) {
    return each.kernel.backend == backend && each.kernel.threads == threads && each.work.batch == batch;
  });
}

Cell ratio_cell(const Result* before, const Result* after) {
  return before == nullptr || after == nullptr ? Cell() : Cell(median_of(*before) / median_of(*after));
}

}  // namespace

void describe_moons(const Findings& findings, Document& document) {
  const auto runs = findings.series<MoonRecord>(kMoonCurves);
  if (runs.empty()) return;
  Table table{.title = "200 epochs: 1000 points to learn from, 1000 new ones to score",
              .columns = {column("Kernels"), column("99 % in epoch"), column("At the end", percent(1)),
                          column("200 epochs", seconds()), column("Weights")}};
  LineChart chart{.title = "Accuracy on new points by epoch",
                  .description = "Accuracy of the network 2-3-3-1 over 200 epochs.",
                  .x = {.title = "epoch", .format = integer()},
                  .y = {.title = "share of points", .format = percent(0)}};
  for (const MoonLine& each : runs) {
    const bool same = each.weight_hash == runs[0].weight_hash;
    const Cell reached = each.reached_in_epoch ? Cell(double(*each.reached_in_epoch)).as(integer()) : Cell();
    table.rows.push_back(
        {.cells = {name_cell(each, each.kernel), reached, series_of(each, &MoonRecord::accuracy).back(), each.seconds,
                   same ? Cell("same bits").marked(Mark::same) : Cell("other rounding")},
         .tone = rung_tone(each.kernel)});
  }
  LineSeries line{.name = "Lockstep", .tone = Tone::simd};
  const std::vector<double>& accuracy = runs[0].accuracy;
  for (std::size_t e = 0; e < accuracy.size(); ++e) line.points.push_back({double(e + 1), accuracy[e]});
  chart.series.push_back(std::move(line));
  document.section("Moons to 99 %, on 2-3-3-1")
      .add(Paragraph{
          "The small network of the paper, in batches of 50 points. It is here to show what it learns, and whether it "
          "learns the same on every kind of kernels; the timings are those of the next section."})
      .add(std::move(table))
      .add(std::move(chart));
}

void describe_threads(const Findings& findings, Document& document) {
  const auto timings = findings.series<DeepRecord>(kThreadTimes);
  if (timings.empty()) return;
  Table table{.title = "The published thread table, and ours",
              .columns = {{.title = "Threads", .align = Align::right},
                          column("Published", seconds(), "published"),
                          column("Speed-up", ratio(), "published_speed_up"),
                          column("Plain loops", seconds(), "loops"),
                          column("Speed-up", ratio(), "loops_speed_up"),
                          column("SIMD", seconds(), "simd"),
                          column("Speed-up", ratio(), "simd_speed_up")}};
  LineSeries theirs{.name = "published", .tone = Tone::published, .kind = LineKind::predicted},
      ideal{.name = "ideal", .tone = Tone::neutral, .kind = LineKind::ideal},
      loops{.name = "plain loops", .tone = Tone::naive}, simd{.name = "SIMD", .tone = Tone::threads};
  const DeepWork& work = timings[0].work;
  const std::int64_t batch = work.batch.value_or(0);
  for (const published::ThreadTime& each : published::kThreads) {
    const double gain = published::kThreads[0].seconds / each.seconds, threads = each.threads;
    const bool crowded = each.threads > work.processors.value_or(each.threads);
    Row row{.cells = {fmt::format("{}{}", each.threads, crowded ? "*" : ""), Cell(each.seconds).marked(Mark::published),
                      Cell(gain).marked(Mark::published)}};
    theirs.points.push_back({threads, gain});
    ideal.points.push_back({threads, threads});
    for (const std::string backend : {"naive", "simd"}) {
      const DeepLine* one = find_by(timings, batch, 1, backend);
      const DeepLine* here = find_by(timings, batch, each.threads, backend);
      row.cells.push_back(here == nullptr ? Cell() : time_cell(*here));
      row.cells.push_back(ratio_cell(one, here));
      if (one != nullptr && here != nullptr)
        (backend == "naive" ? loops : simd).points.push_back({threads, median_of(*one) / median_of(*here)});
    }
    table.rows.push_back(std::move(row));
  }
  table.notes = {
      fmt::format("Ours: one epoch of {} points in batches of {}. The published runs do not say how many "
                  "epochs or which batch; only their ratios can be compared. *: more threads than the {} "
                  "processors here, no gain can be expected.",
                  work.points.value_or(0), batch, work.processors.value_or(0))};
  std::size_t same = 0;
  double best = 1;
  int best_threads = 1;
  const DeepLine* const one = find_by(timings, batch, 1);
  for (const DeepLine& each : timings) {
    same += each.weight_hash == timings[0].weight_hash ? 1 : 0;
    if (one == nullptr || each.kernel.backend != "simd") continue;
    if (const double gain = median_of(*one) / median_of(each); gain > best)
      best = gain, best_threads = each.kernel.threads;
  }
  document.section("Threads: 2-300-300-300-300-300-300-1")
      .add(Paragraph{fmt::format(
          "Published: {:.2f} times as fast on 16 threads of 16 cores, and {:.2f} times on 32. Here, with {} "
          "processors, SIMD kernels have their largest ratio on {}: {:.2f} times as fast as one. {} of {} "
          "variants have the same weights, bit by bit. Here a thread takes a slot of 16 samples through the whole "
          "network; the paper does not measure where its curve bends.",
          published::kThreads[0].seconds / published::kThreads[4].seconds,
          published::kThreads[0].seconds / published::kThreads[5].seconds, work.processors.value_or(0),
          count_of(best_threads, "thread"), best, same, timings.size())})
      .add(std::move(table))
      .add(LineChart{.title = "Speed-up on threads",
                     .description = "Speed-up against one thread, published and measured.",
                     .x = {.title = "threads", .scale = Scale::log, .format = integer(), .ticks = {1, 2, 4, 8, 16, 32}},
                     .y = {.title = "times one thread", .scale = Scale::log, .format = ratio()},
                     .series = {std::move(theirs), std::move(ideal), std::move(loops), std::move(simd)}})
      .add(Paragraph{fmt::format(
          "The published device part (RTX 2080 Ti, multiply and transpose only) takes {} us on the host, {} us as a "
          "kernel and {} us with its copies. Lockstep keeps weights and activations on a device; only the batch is "
          "copied.",
          published::kOpenmpMicroseconds, published::kKernelMicroseconds, published::kWithCopiesMicroseconds)});
  if (const auto kinds = findings.series<KernelRecord>(kKindTimes); !kinds.empty())
    document.sections.back().add(rungs_table("Plain loops against SIMD, libraries and devices: the same epoch", kinds));
}

void describe_sections(const Findings& findings, Document& document) {
  const auto all = findings.series<SectionRecord>(kSectionTimes);
  if (all.empty()) return;
  Table table{.title = "An epoch by section, and what the whole gains against the first row",
              .columns = {column("Kernels")}};
  BarChart chart{.title = "Gain of each section against plain loops on one thread",
                 .description = "Per section a bar for each kind of kernel.",
                 .axis = {.title = "times as fast", .scale = Scale::log, .format = ratio()}};
  static constexpr auto kColumns = EpochSections::fields();
  constexpr auto kSections = std::span(kColumns).first<4>();  // neither the rest nor the sum
  for (const auto& section : kColumns) table.columns.push_back(column(std::string(section.name), seconds()));
  table.columns.push_back(column("Gain", ratio()));
  const auto gain = [&](const SectionRecord& line,
                        std::optional<double> EpochSections::*section) -> std::optional<double> {
    const double before = (all[0].seconds.*section).value_or(0), after = (line.seconds.*section).value_or(0);
    return before > 0 && after > 0 ? std::optional(before / after) : std::nullopt;
  };
  std::string most;
  for (const SectionLine& each : all) {
    const bool first = &each == all.data();
    Row row{.cells = {short_name(each)}, .mark = first ? Mark::baseline : Mark::none, .tone = rung_tone(each.kernel)};
    for (const auto& section : kColumns) row.cells.emplace_back(each.seconds.*section.member);
    row.cells.emplace_back(gain(each, &EpochSections::all));
    table.rows.push_back(std::move(row));
    if (first) continue;
    chart.series.push_back({.name = short_name(each), .tone = rung_tone(each.kernel)});
    const auto best = std::max_element(kSections.begin(), kSections.end(), [&](const auto& a, const auto& b) {
      return gain(each, a.member).value_or(0) < gain(each, b.member).value_or(0);
    });
    most += fmt::format("{}{}: {} ({:.2f} times as fast)", most.empty() ? "" : "; ", short_name(each), best->name,
                        gain(each, best->member).value_or(0));
  }
  for (const auto& section : kSections) {
    BarGroup group{.label = std::string(section.name)};
    for (std::size_t i = 1; i < all.size(); ++i) group.bars.emplace_back(gain(all[i], section.member).value_or(0));
    if (std::any_of(group.bars.begin(), group.bars.end(), [](const BarValue& bar) { return bar.value > 0; }))
      chart.groups.push_back(std::move(group));
  }
  table.notes = {
      "From the spans, means over threads. backward includes the loss; reduce is the sum over slots; other: loading "
      "points, waiting at barriers, shuffling."};
  document.section("Sections: which gains most")
      .add(Paragraph{fmt::format("The section with the largest ratio to plain loops on one thread, by {}. The paper "
                                 "asked this question and timed the whole program only.",
                                 most)})
      .add(std::move(table))
      .add(std::move(chart));
}

void describe_batches(const Findings& findings, Document& document) {
  const auto timings = findings.series<DeepRecord>(kBatchTimes);
  if (timings.empty()) return;
  int cpus = 1;
  for (const DeepLine& each : timings) cpus = std::max(cpus, each.kernel.threads);
  Table table{.title = "An epoch by the size of its batches, SIMD kernels",
              .columns = {column("Batch"), column("Published, 16 threads", seconds()), column("1 thread", seconds()),
                          column(fmt::format("{} threads", cpus), seconds()), column("Gain", ratio())}};
  LineSeries one{.name = "1 thread", .tone = Tone::simd},
      team{.name = fmt::format("{} threads", cpus), .tone = Tone::threads};
  for (int batch = 1; batch <= 512; batch *= 2) {
    const DeepLine* serial = find_by(timings, batch, 1);
    const DeepLine* parallel = cpus > 1 ? find_by(timings, batch, cpus) : nullptr;
    if (serial == nullptr) continue;
    const Cell theirs = batch == 1     ? Cell(published::kBatch1On16).marked(Mark::published)
                        : batch == 512 ? Cell(published::kBatch512On16).marked(Mark::published)
                                       : Cell();
    table.rows.push_back(
        {.cells = {batch, theirs, time_cell(*serial), parallel == nullptr ? Cell() : time_cell(*parallel),
                   ratio_cell(serial, parallel)}});
    one.points.push_back({double(batch), median_of(*serial)});
    if (parallel != nullptr) team.points.push_back({double(batch), median_of(*parallel)});
  }
  table.notes = {fmt::format(
      "Published also: {:.0f} s on one thread at 512, {:.2f} times the time on 16. Ours: {} points. A batch has a slot "
      "per 16 samples and a slot one thread: below 32 samples one thread computes, and all share the optimiser's step.",
      published::kBatch512On1, published::kBatch512On1 / published::kBatch512On16, timings[0].work.points.value_or(0))};
  const DeepLine *smallest = find_by(timings, 1, 1), *largest = find_by(timings, 512, 1);
  Section& section = document.section("Batches of 1 to 512");
  if (smallest != nullptr && largest != nullptr)
    section.add(Paragraph{fmt::format(
        "On one thread an epoch in batches of 512 is {:.1f} times as fast as one in batches of 1; in the published "
        "runs on 16 threads {:.0f} times. With one sample every weight is fetched for one multiply-add and updated "
        "after it, with 512 it is fetched once for all of them. What the rest of the published factor is made of, such "
        "as starting 16 threads in every product, the paper does not measure.",
        median_of(*smallest) / median_of(*largest), published::kBatch1On16 / published::kBatch512On16)});
  section.add(std::move(table));
  std::vector<LineSeries> lines = {std::move(one)};
  if (!team.points.empty()) lines.push_back(std::move(team));
  section.add(LineChart{.title = "An epoch by the size of its batches",
                        .description = "Seconds per epoch for batches of 1 to 512.",
                        .x = {.title = "batch", .scale = Scale::log, .format = integer()},
                        .y = {.title = "time", .scale = Scale::log, .format = seconds()},
                        .series = std::move(lines)});
}

}  // namespace lockstep::cli
