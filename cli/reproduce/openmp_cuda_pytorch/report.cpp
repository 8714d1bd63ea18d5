// The report of openmp-cuda-pytorch, from its results: moons, threads, sections, batches.

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "cli/reproduce/openmp_cuda_pytorch/experiment.hpp"
#include "cli/reproduce/openmp_cuda_pytorch/published.hpp"
#include "cli/reproduce/rungs.hpp"
#include "cli/reproduce/timing.hpp"

namespace lockstep::cli {

namespace {

namespace published = openmp_published;
using report::Cell;
using report::Mark;
using report::Tone;

constexpr std::array<const char*, 4> kSections = {"forward", "backward", "update", "reduce"};

/// The one of these kernels (this batch) on so many threads; null: not measured.
const Result* find_by(const std::vector<const Result*>& results, const std::string& key, double value, double threads,
                      const std::string& backend = "simd") {
  for (const Result* each : results)
    if (each->word("backend") == backend && each->number("threads") == threads && each->number(key) == value)
      return each;
  return nullptr;
}

std::string crowded(double threads, const Result& any) {
  return threads > any.number("processors").value_or(threads) ? "*" : "";
}

Cell ratio_cell(const Result* before, const Result* after) {
  return before == nullptr || after == nullptr ? Cell() : Cell(median_of(*before) / median_of(*after));
}

double threads_of(const Result& result) { return result.number("threads").value_or(1); }

}  // namespace

void describe_moons(const Findings& findings, report::Document& document) {
  const std::vector<const Result*> runs = findings.series(kMoonCurves);
  if (runs.empty()) return;
  report::Table table{.title = "200 epochs: 1000 points to learn from, 1000 new ones to score",
                      .columns = {{.title = "Kernels"},
                                  {.title = "99 % in epoch"},
                                  {.title = "At the end", .format = report::percent(1)},
                                  {.title = "200 epochs", .format = report::seconds()},
                                  {.title = "Weights"}}};
  report::LineChart chart{.title = "Accuracy on new points by epoch",
                          .description = "Accuracy of the network 2-3-3-1 over 200 epochs.",
                          .x = {.title = "epoch", .format = report::integer()},
                          .y = {.title = "share of points", .format = report::percent(0)}};
  for (const Result* each : runs) {
    const bool same = each->weight_hash == runs[0]->weight_hash;
    table.rows.push_back({.cells = {name_cell(*each), Cell(each->number("reached_in_epoch")).as(report::integer()),
                                    values_of(*each, "accuracy").back(), each->number("seconds"),
                                    same ? Cell("same bits").marked(Mark::same) : Cell("other rounding")},
                          .tone = rung_tone(*each)});
  }
  report::LineSeries line{.name = "Lockstep", .tone = Tone::simd};
  const std::vector<double>& accuracy = values_of(*runs[0], "accuracy");
  for (std::size_t e = 0; e < accuracy.size(); ++e) line.points.push_back({double(e + 1), accuracy[e]});
  chart.series.push_back(std::move(line));
  document.section("Moons to 99 %, on 2-3-3-1")
      .add(report::Paragraph{
          "The small network of the paper, in batches of 50 points. It is here to show what it learns, and whether it "
          "learns the same on every kind of kernels; the timings are those of the next section."})
      .add(std::move(table))
      .add(std::move(chart));
}

void describe_threads(const Findings& findings, report::Document& document) {
  const std::vector<const Result*> timings = findings.series(kThreadTimes);
  if (timings.empty()) return;
  report::Table table{.title = "The published thread table, and ours",
                      .columns = {{.title = "Threads", .align = report::Align::right},
                                  {.title = "Published", .format = report::seconds(), .key = "published"},
                                  {.title = "Speed-up", .format = report::ratio(), .key = "published_speed_up"},
                                  {.title = "Plain loops", .format = report::seconds(), .key = "loops"},
                                  {.title = "Speed-up", .format = report::ratio(), .key = "loops_speed_up"},
                                  {.title = "SIMD", .format = report::seconds(), .key = "simd"},
                                  {.title = "Speed-up", .format = report::ratio(), .key = "simd_speed_up"}}};
  report::LineSeries theirs{.name = "published", .tone = Tone::published, .kind = report::LineKind::predicted},
      ideal{.name = "ideal", .tone = Tone::neutral, .kind = report::LineKind::ideal},
      loops{.name = "plain loops", .tone = Tone::naive}, simd{.name = "SIMD", .tone = Tone::threads};
  const double batch = timings[0]->number("batch").value_or(0);
  for (const published::ThreadTime& each : published::kThreads) {
    const double gain = published::kThreads[0].seconds / each.seconds, threads = each.threads;
    report::Row row{.cells = {fmt::format("{}{}", each.threads, crowded(threads, *timings[0])),
                              Cell(each.seconds).marked(Mark::published), Cell(gain).marked(Mark::published)}};
    theirs.points.push_back({threads, gain});
    ideal.points.push_back({threads, threads});
    for (const std::string backend : {"naive", "simd"}) {
      const Result* one = find_by(timings, "batch", batch, 1, backend);
      const Result* here = find_by(timings, "batch", batch, threads, backend);
      row.cells.push_back(here == nullptr ? Cell() : time_cell(*here));
      row.cells.push_back(ratio_cell(one, here));
      if (one != nullptr && here != nullptr)
        (backend == "naive" ? loops : simd).points.push_back({threads, median_of(*one) / median_of(*here)});
    }
    table.rows.push_back(std::move(row));
  }
  table.notes = {
      fmt::format("Ours: one epoch of {:.0f} points in batches of {:.0f}. The published runs do not say how many "
                  "epochs or which batch; only their ratios can be compared. *: more threads than the {:.0f} "
                  "processors here, no gain can be expected.",
                  timings[0]->number("points").value_or(0), batch, timings[0]->number("processors").value_or(0))};
  std::size_t same = 0;
  double best = 1, best_threads = 1;
  for (const Result* each : timings) {
    same += each->weight_hash == timings[0]->weight_hash ? 1 : 0;
    const Result* const one = find_by(timings, "batch", batch, 1, "simd");
    if (one == nullptr || each->word("backend") != "simd") continue;
    if (const double gain = median_of(*one) / median_of(*each); gain > best)
      best = gain, best_threads = threads_of(*each);
  }
  document.section("Threads: 2-300-300-300-300-300-300-1")
      .add(report::Paragraph{fmt::format(
          "Published: {:.2f} times as fast on 16 threads of 16 cores, and {:.2f} times on 32. Here, with {:.0f} "
          "processors, SIMD kernels have their largest ratio on {:.0f} thread{}: {:.2f} times as fast as one. {} of {} "
          "variants have the same weights, bit by bit. Here a thread takes a slot of 16 samples through the whole "
          "network; the paper does not measure where its curve bends.",
          published::kThreads[0].seconds / published::kThreads[4].seconds,
          published::kThreads[0].seconds / published::kThreads[5].seconds, timings[0]->number("processors").value_or(0),
          best_threads, best_threads == 1 ? "" : "s", best, same, timings.size())})
      .add(std::move(table))
      .add(report::LineChart{.title = "Speed-up on threads",
                             .description = "Speed-up against one thread, published and measured.",
                             .x = {.title = "threads",
                                   .scale = report::Scale::log,
                                   .format = report::integer(),
                                   .ticks = {1, 2, 4, 8, 16, 32}},
                             .y = {.title = "times one thread", .scale = report::Scale::log, .format = report::ratio()},
                             .series = {std::move(theirs), std::move(ideal), std::move(loops), std::move(simd)}})
      .add(report::Paragraph{fmt::format(
          "The published device part (RTX 2080 Ti, multiply and transpose only) takes {} us on the host, {} us as a "
          "kernel and {} us with its copies. Lockstep keeps weights and activations on a device; only the batch is "
          "copied.",
          published::kOpenmpMicroseconds, published::kKernelMicroseconds, published::kWithCopiesMicroseconds)});
  if (const auto kinds = findings.series(kKindTimes); !kinds.empty())
    document.sections.back().add(rungs_table("Plain loops against SIMD, libraries and devices: the same epoch", kinds));
}

void describe_sections(const Findings& findings, report::Document& document) {
  const std::vector<const Result*> all = findings.series(kSectionTimes);
  if (all.empty()) return;
  report::Table table{.title = "An epoch by section, and what the whole gains against the first row",
                      .columns = {{.title = "Kernels"}}};
  report::BarChart chart{.title = "Gain of each section against plain loops on one thread",
                         .description = "Per section a bar for each kind of kernel.",
                         .axis = {.title = "times as fast", .scale = report::Scale::log, .format = report::ratio()}};
  std::vector<std::string> columns(kSections.begin(), kSections.end());
  columns.insert(columns.end(), {"other", "all"});
  for (const std::string& section : columns) table.columns.push_back({.title = section, .format = report::seconds()});
  table.columns.push_back({.title = "Gain", .format = report::ratio()});
  const auto gain = [&](const Result& result, const std::string& section) -> std::optional<double> {
    const double before = all[0]->number(section).value_or(0), after = result.number(section).value_or(0);
    return before > 0 && after > 0 ? std::optional(before / after) : std::nullopt;
  };
  std::string most;
  for (const Result* each : all) {
    report::Row row{
        .cells = {short_name(*each)}, .mark = each == all[0] ? Mark::baseline : Mark::none, .tone = rung_tone(*each)};
    for (const std::string& section : columns) row.cells.emplace_back(each->number(section));
    row.cells.emplace_back(gain(*each, "all"));
    table.rows.push_back(std::move(row));
    if (each == all[0]) continue;
    chart.series.push_back({.name = short_name(*each), .tone = rung_tone(*each)});
    const auto best = std::max_element(kSections.begin(), kSections.end(), [&](const char* a, const char* b) {
      return gain(*each, a).value_or(0) < gain(*each, b).value_or(0);
    });
    most += fmt::format("{}{}: {} ({:.2f} times as fast)", most.empty() ? "" : "; ", short_name(*each), *best,
                        gain(*each, *best).value_or(0));
  }
  for (const char* const section : kSections) {
    report::BarGroup group{.label = section};
    for (std::size_t i = 1; i < all.size(); ++i) group.bars.emplace_back(gain(*all[i], section).value_or(0));
    if (std::any_of(group.bars.begin(), group.bars.end(), [](const report::BarValue& bar) { return bar.value > 0; }))
      chart.groups.push_back(std::move(group));
  }
  table.notes = {
      "From the spans, means over threads. backward includes the loss; reduce is the sum over slots; other: loading "
      "points, waiting at barriers, shuffling."};
  document.section("Sections: which gains most")
      .add(report::Paragraph{
          fmt::format("The section with the largest ratio to plain loops on one thread, by {}. The paper "
                      "asked this question and timed the whole program only.",
                      most)})
      .add(std::move(table))
      .add(std::move(chart));
}

void describe_batches(const Findings& findings, report::Document& document) {
  const std::vector<const Result*> timings = findings.series(kBatchTimes);
  if (timings.empty()) return;
  double cpus = 1;
  for (const Result* each : timings) cpus = std::max(cpus, threads_of(*each));
  report::Table table{.title = "An epoch by the size of its batches, SIMD kernels",
                      .columns = {{.title = "Batch"},
                                  {.title = "Published, 16 threads", .format = report::seconds()},
                                  {.title = "1 thread", .format = report::seconds()},
                                  {.title = fmt::format("{:.0f} threads", cpus), .format = report::seconds()},
                                  {.title = "Gain", .format = report::ratio()}}};
  report::LineSeries one{.name = "1 thread", .tone = Tone::simd},
      team{.name = fmt::format("{:.0f} threads", cpus), .tone = Tone::threads};
  for (int batch = 1; batch <= 512; batch *= 2) {
    const Result* serial = find_by(timings, "batch", batch, 1);
    const Result* parallel = cpus > 1 ? find_by(timings, "batch", batch, cpus) : nullptr;
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
      "Published also: {:.0f} s on one thread at 512, {:.2f} times the time on 16. Ours: {:.0f} points. A batch has a "
      "slot "
      "per 16 samples and a slot one thread: below 32 samples one thread computes, and all share the optimiser's step.",
      published::kBatch512On1, published::kBatch512On1 / published::kBatch512On16,
      timings[0]->number("points").value_or(0))};
  const Result* smallest = find_by(timings, "batch", 1, 1);
  const Result* largest = find_by(timings, "batch", 512, 1);
  report::Section& section = document.section("Batches of 1 to 512");
  if (smallest != nullptr && largest != nullptr)
    section.add(report::Paragraph{fmt::format(
        "On one thread an epoch in batches of 512 is {:.1f} times as fast as one in batches of 1; in the published "
        "runs "
        "on 16 threads {:.0f} times. With one sample every weight is fetched for one multiply-add and updated after "
        "it, "
        "with 512 it is fetched once for all of them. What the rest of the published factor is made of, such as "
        "starting 16 threads in every product, the paper does not measure.",
        median_of(*smallest) / median_of(*largest), published::kBatch1On16 / published::kBatch512On16)});
  section.add(std::move(table));
  std::vector<report::LineSeries> lines = {std::move(one)};
  if (!team.points.empty()) lines.push_back(std::move(team));
  section.add(report::LineChart{.title = "An epoch by the size of its batches",
                                .description = "Seconds per epoch for batches of 1 to 512.",
                                .x = {.title = "batch", .scale = report::Scale::log, .format = report::integer()},
                                .y = {.title = "time", .scale = report::Scale::log, .format = report::seconds()},
                                .series = std::move(lines)});
}

}  // namespace lockstep::cli
