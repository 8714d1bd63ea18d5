// The report of cuda-quadrants, from its results.

#include <array>

#include <fmt/format.h>

#include "cli/reproduce/cuda_quadrants_parts.hpp"
#include "cli/reproduce/cuda_quadrants_published.hpp"
#include "cli/reproduce/timing.hpp"

namespace lockstep::cli {

namespace {

using report::Cell;
using report::Mark;
using report::Tone;

/// Of these, the first five are what the published program calls parallel. Its sigmoid is a layer; ours is one section
/// with the loss. Its step of the weights belongs to the backward pass of the linear layers, as here.
constexpr std::array<const char*, 8> kSections = {"linear backward",  "linear forward", "relu forward", "relu backward",
                                                  "sigmoid and loss", "load",           "reduce",       "other"};
constexpr std::size_t kParallelSections = 5;

std::string digits(double number) { return fmt::format("{:.6f}", number); }

bool same_digits(const Result& curve, std::size_t epoch) {
  return digits(values_of(curve, "loss")[epoch]) == digits(quadrants_published::kTestLoss[epoch]) &&
         digits(values_of(curve, "accuracy")[epoch]) == digits(quadrants_published::kTestAccuracy[epoch]);
}

void add_series(const Result& curve, report::Document& document) {
  report::Table table{.title = "Test loss and accuracy after each epoch",
                      .columns = {{.title = "Epoch"},
                                  {.title = "Published loss", .format = report::fixed(6)},
                                  {.title = "Ours", .format = report::fixed(6), .key = "loss"},
                                  {.title = "Published accuracy", .format = report::fixed(6)},
                                  {.title = "Ours", .format = report::fixed(6), .key = "accuracy"},
                                  {.title = "All printed digits"}}};
  report::LineSeries theirs{.name = "published", .tone = Tone::published, .kind = report::LineKind::predicted};
  report::LineSeries ours{.name = "Lockstep", .tone = Tone::simd};
  const std::vector<double>&losses = values_of(curve, "loss", quadrants_published::kTestLoss.size()),
        &accuracies = values_of(curve, "accuracy", quadrants_published::kTestLoss.size());
  std::size_t same = 0;
  for (std::size_t i = 0; i < quadrants_published::kTestLoss.size(); ++i) {
    const double loss = losses[i], epoch = static_cast<double>(i + 1);
    const bool equal = same_digits(curve, i);
    same += equal ? 1 : 0;
    table.rows.push_back(
        {.cells = {i + 1, Cell(quadrants_published::kTestLoss[i]).marked(Mark::published), loss,
                   Cell(quadrants_published::kTestAccuracy[i]).marked(Mark::published), accuracies[i],
                   equal ? Cell("same").marked(Mark::same)
                         : Cell(fmt::format("off by {:.6f}", std::abs(loss - quadrants_published::kTestLoss[i])))}});
    theirs.points.push_back({epoch, quadrants_published::kTestLoss[i]});
    ours.points.push_back({epoch, loss});
  }
  document.section("The published run, digit by digit")
      .add(report::Paragraph{fmt::format(
          "{} of the {} epochs agree in all printed digits of loss and accuracy. The published program draws its "
          "points "
          "and weights from generators that nobody seeded, so the same numbers can be drawn again; from there on it is "
          "arithmetic. Both compute in single precision, add up in different orders and take exp and log from "
          "different "
          "libraries, so that a last digit can differ. The published ReLU passes a gradient where its input is exactly "
          "0, ours does not: that happened {} times among the hidden values of all training points, under the first "
          "weights and under the last.",
          same, quadrants_published::kTestLoss.size(), curve.number("exact_zeros").value_or(0))})
      .add(std::move(table))
      .add(report::LineChart{.title = "Test loss by epoch: the two lines are one",
                             .description = "Published and own test loss over ten epochs; they coincide.",
                             .x = {.title = "epoch", .format = report::integer()},
                             .y = {.title = "binary cross-entropy", .low = 0},
                             .series = {std::move(theirs), std::move(ours)}});
}

double published_share(const std::string& section) {
  double sum = 0;
  for (const quadrants_published::Share& each : quadrants_published::kShares)
    if (section == each.section || (section == "sigmoid and loss" && std::string(each.section).starts_with("sigmoid")))
      sum += each.percent;
  return sum / 100;
}

double parallel_share(const Result& shares) {
  double sum = 0;
  for (std::size_t i = 0; i < kParallelSections; ++i) sum += shares.number(kSections[i]).value_or(0);
  return sum;
}

report::Table share_table(const std::vector<const Result*>& shares) {
  report::Table table{.title = "Where the time of a serial training goes",
                      .columns = {{.title = "Section"}, {.title = "Published", .format = report::percent(2)}}};
  for (const Result* each : shares) table.columns.push_back({.title = short_name(*each), .format = report::percent(2)});
  for (const char* const section : kSections) {
    const double theirs = published_share(section);
    report::Row row{.cells = {section, theirs > 0 ? Cell(theirs).marked(Mark::published) : Cell()}};
    for (const Result* each : shares) row.cells.emplace_back(each->number(section).value_or(0));
    table.rows.push_back(std::move(row));
  }
  report::Row parallel{
      .cells = {"parallel in the report", Cell(quadrants_published::kParallelShare / 100).marked(Mark::published)}};
  report::Row bound{.cells = {fmt::format("Amdahl's bound on {} cores", quadrants_published::kDeviceCores),
                              Cell(quadrants_published::kAmdahlBound).as(report::ratio()).marked(Mark::published)}};
  for (const Result* each : shares) {
    const double share = parallel_share(*each);
    parallel.cells.emplace_back(share);
    bound.cells.push_back(Cell(amdahl_bound(share, quadrants_published::kDeviceCores)).as(report::ratio()));
  }
  table.rows.push_back(std::move(parallel));
  table.rows.push_back(std::move(bound));
  table.notes = {
      "Published: instructions, by callgrind; its parts add up to 97.71 %, its text says 98.01 %. Linear backward "
      "includes the step of the weights, as in the published program; its sigmoid forward and backward stand in the "
      "line "
      "of sigmoid and loss, which here includes the loss.",
      "load: samples gathered into chunks; reduce: sums over slots; other: shuffle, reports, waiting."};
  return table;
}

report::BarChart share_chart(const std::vector<const Result*>& shares) {
  report::BarChart chart{.title = "Shares of a serial training",
                         .description = "For each profile one bar, made of the shares of its sections.",
                         .axis = {.title = "share of the whole", .high = 1, .format = report::percent(0)},
                         .stacked = true};
  for (const char* const section : kSections) chart.series.push_back({.name = section});
  report::BarGroup theirs{.label = "published", .note = "instructions"};
  for (const char* const section : kSections) theirs.bars.emplace_back(published_share(section));
  chart.groups.push_back(std::move(theirs));
  for (const Result* each : shares) {
    report::BarGroup group{.label = short_name(*each)};
    for (const char* const section : kSections) group.bars.emplace_back(each->number(section).value_or(0));
    chart.groups.push_back(std::move(group));
  }
  return chart;
}

void add_shares(const std::vector<const Result*>& shares, report::Document& document) {
  document.section("Where the time goes, and Amdahl's bound")
      .add(report::Paragraph{fmt::format(
          "From the report's own share Amdahl's bound is {:.2f} on {} cores, from the sum of its parts {:.2f}; it "
          "prints "
          "{:.2f}. The bound is set by the serial rest alone. Here almost nothing is serial: samples are gathered, "
          "gradients added up and weights moved by all threads, so the line \"parallel in the report\" counts what the "
          "published program counts and is no limit of ours. The faster the kernels, the larger the share of what "
          "stands around them: the same training has another bound after every optimisation.",
          amdahl_bound(quadrants_published::kParallelShare / 100, quadrants_published::kDeviceCores),
          quadrants_published::kDeviceCores, amdahl_bound(0.9771, quadrants_published::kDeviceCores),
          quadrants_published::kAmdahlBound)})
      .add(share_table(shares))
      .add(share_chart(shares));
}

Tone tone_of(const Result& timing) {
  const std::string backend = timing.word("backend");
  if (backend.starts_with("naive")) return Tone::naive;
  if (backend == "simd") return timing.number("threads").value_or(1) > 1 ? Tone::threads : Tone::simd;
  return backend == "library" ? Tone::library : Tone::device;
}

void add_speed(const std::vector<const Result*>& timings, report::Document& document) {
  report::Table table{.title = "One epoch: 199 batches of 1024 points",
                      .columns = {{.title = "Kernels"},
                                  {.title = "Time", .format = report::seconds()},
                                  {.title = "Against -O0", .format = report::ratio()},
                                  {.title = "Against -O3", .format = report::ratio()},
                                  {.title = "Weights"}}};
  report::BarChart chart{
      .title = "Speed-up against the same loops unoptimised and optimised",
      .description = "Per kind of kernel two bars: against -O0 and against -O3.",
      .axis = {.title = "times faster", .scale = report::Scale::log, .format = report::ratio()},
      .series = {{.name = "against -O0", .tone = Tone::neutral}, {.name = "against -O3", .tone = Tone::simd}}};
  const double o0 = median_of(*timings[0]), o3 = median_of(*timings[1]), simd = median_of(*timings[2]);
  for (const Result* each : timings) {
    const double seconds = median_of(*each);
    const bool same = each->weight_hash == timings[0]->weight_hash;
    table.rows.push_back({.cells = {short_name(*each), time_cell(*each), o0 / seconds, o3 / seconds,
                                    same ? Cell("same").marked(Mark::same) : Cell("other rounding")},
                          .mark = each == timings[0] ? Mark::baseline : Mark::none,
                          .tone = tone_of(*each)});
    chart.groups.push_back({.label = short_name(*each), .bars = {o0 / seconds, o3 / seconds}});
  }
  table.rows.push_back({.cells = {"CUDA on a GTX 1050 Ti", Cell(), quadrants_published::kSpeedUp, Cell(), Cell()},
                        .mark = Mark::published,
                        .tone = Tone::published});
  table.notes = {"Weights: after the first epoch, compared with those of the first row.", kDeviceNote};
  document.section("What the published speed-up was measured against")
      .add(report::Paragraph{fmt::format(
          "The published {:.2f}x compares a graphics card with a host program that was compiled without an "
          "optimisation "
          "flag. Run again on one processor of 2026, that program takes {:.1f} s unoptimised and {:.2f} s with -O2, "
          "{:.1f} "
          "times less: of the {:.2f}x about {:.1f}x would be left. Here the same plain loops gain {:.1f}x from the "
          "compiler's flag alone, and the SIMD kernels on one thread reach {:.1f}x against the unoptimised and {:.1f}x "
          "against the optimised loops. A speed-up means nothing without its baseline.",
          quadrants_published::kSpeedUp, quadrants_published::kRerunO0, quadrants_published::kRerunO2,
          quadrants_published::kRerunO0 / quadrants_published::kRerunO2, quadrants_published::kSpeedUp,
          quadrants_published::kSpeedUp * quadrants_published::kRerunO2 / quadrants_published::kRerunO0, o0 / o3,
          o0 / simd, o3 / simd)})
      .add(std::move(table))
      .add(std::move(chart));
}

}  // namespace

void describe_quadrants(const Findings& findings, report::Document& document) {
  if (const Result* const curve = findings.find(kQuadrantCurve)) add_series(*curve, document);
  if (const auto shares = findings.series(kQuadrantShares); !shares.empty()) add_shares(shares, document);
  // -O0, -O3 and SIMD lead, and the words are about them.
  if (const auto times = findings.series(kQuadrantTimes); times.size() >= 3) add_speed(times, document);
}

}  // namespace lockstep::cli
