// The report of cuda-quadrants, from its results.

#include <cmath>

#include <fmt/format.h>

#include "cli/reproduce/cuda_quadrants/experiment.hpp"
#include "cli/reproduce/cuda_quadrants/published.hpp"
#include "cli/reproduce/rungs.hpp"
#include "cli/reproduce/timing.hpp"

namespace lockstep::cli {

using namespace report;  // NOLINT(google-build-using-namespace): the words of documents

namespace {

namespace published = quadrants_published;

std::string digits(double number) { return fmt::format("{:.6f}", number); }

void add_series(const Line<QuadrantCurve>& curve, Document& document) {
  Table table{.title = "Test loss and accuracy after each epoch",
              .columns = {column("Epoch"), column("Published loss", fixed(6)), column("Ours", fixed(6), "loss"),
                          column("Published accuracy", fixed(6)), column("Ours", fixed(6), "accuracy"),
                          column("All printed digits")}};
  LineSeries theirs{.name = "published", .tone = Tone::published, .kind = LineKind::predicted};
  LineSeries ours{.name = "Lockstep", .tone = Tone::simd};
  const std::vector<double>&losses = series_of(curve, &QuadrantCurve::loss, published::kTestLoss.size()),
        &accuracies = series_of(curve, &QuadrantCurve::accuracy, published::kTestLoss.size());
  std::size_t same = 0;
  for (std::size_t i = 0; i < published::kTestLoss.size(); ++i) {
    const double loss = losses[i], epoch = static_cast<double>(i + 1);
    const bool equal =
        digits(loss) == digits(published::kTestLoss[i]) && digits(accuracies[i]) == digits(published::kTestAccuracy[i]);
    same += equal ? 1 : 0;
    table.rows.push_back(
        {.cells = {i + 1, Cell(published::kTestLoss[i]).marked(Mark::published), loss,
                   Cell(published::kTestAccuracy[i]).marked(Mark::published), accuracies[i],
                   equal ? Cell("same").marked(Mark::same)
                         : Cell(fmt::format("off by {:.6f}", std::abs(loss - published::kTestLoss[i])))}});
    theirs.points.push_back({epoch, published::kTestLoss[i]});
    ours.points.push_back({epoch, loss});
  }
  document.section("The published run, digit by digit")
      .add(Paragraph{fmt::format(
          "{} of the {} epochs agree in all printed digits of loss and accuracy. The published program draws its "
          "points and weights from generators that nobody seeded, so the same numbers can be drawn again; from there "
          "on it is arithmetic. Both compute in single precision, add up in different orders and take exp and log from "
          "different libraries, so that a last digit can differ. The published ReLU passes a gradient where its input "
          "is exactly 0, ours does not: that happened {} times among the hidden values of all training points, under "
          "the first weights and under the last.",
          same, published::kTestLoss.size(), curve.exact_zeros)})
      .add(std::move(table))
      .add(LineChart{.title = "Test loss by epoch, published and ours",
                     .description = "Published and own test loss over ten epochs.",
                     .x = {.title = "epoch", .format = integer()},
                     .y = {.title = "binary cross-entropy", .low = 0},
                     .series = {std::move(theirs), std::move(ours)}});
}

double published_share(std::string_view section) {
  double sum = 0;
  for (const published::Share& each : published::kShares)
    if (section == each.section || (section == "sigmoid and loss" && std::string(each.section).starts_with("sigmoid")))
      sum += each.percent;
  return sum / 100;
}

Table share_table(const std::vector<Line<SectionShares>>& shares) {
  Table table{.title = "Where the time of a serial training goes",
              .columns = {column("Section"), column("Published", percent(2))}};
  for (const Result& each : shares) table.columns.push_back(column(short_name(each), percent(2)));
  for (const auto& section : SectionShares::fields()) {
    const double theirs = published_share(section.name);
    Row row{.cells = {std::string(section.name), theirs > 0 ? Cell(theirs).marked(Mark::published) : Cell()}};
    for (const SectionShares& each : shares) row.cells.emplace_back((each.*section.member).value_or(0));
    table.rows.push_back(std::move(row));
  }
  Row parallel{.cells = {"parallel in the report", Cell(published::kParallelShare / 100).marked(Mark::published)}};
  Row bound{.cells = {fmt::format("Amdahl's bound on {} cores", published::kDeviceCores),
                      Cell(published::kAmdahlBound).as(ratio()).marked(Mark::published)}};
  for (const SectionShares& each : shares) {
    parallel.cells.emplace_back(each.parallel());
    bound.cells.push_back(Cell(amdahl_bound(each.parallel(), published::kDeviceCores)).as(ratio()));
  }
  table.rows.push_back(std::move(parallel));
  table.rows.push_back(std::move(bound));
  table.notes = {
      "Published: instructions, by callgrind; its parts add up to 97.71 %, its text says 98.01 %. Linear backward "
      "includes the step of the weights, as in the published program; its sigmoid forward and backward stand in the "
      "line of sigmoid and loss, which here includes the loss.",
      "load: samples gathered into chunks; reduce: sums over slots; other: shuffle, reports, waiting."};
  return table;
}

BarChart share_chart(const std::vector<Line<SectionShares>>& shares) {
  BarChart chart{.title = "Shares of a serial training",
                 .description = "For each profile one bar, made of the shares of its sections.",
                 .axis = {.title = "share of the whole", .high = 1, .format = percent(0)},
                 .stacked = true};
  for (const auto& section : SectionShares::fields()) chart.series.push_back({.name = std::string(section.name)});
  BarGroup theirs{.label = "published", .note = "instructions"};
  for (const auto& section : SectionShares::fields()) theirs.bars.emplace_back(published_share(section.name));
  chart.groups.push_back(std::move(theirs));
  for (const auto& each : shares) {
    BarGroup group{.label = short_name(each)};
    for (const auto& section : SectionShares::fields()) group.bars.emplace_back((each.*section.member).value_or(0));
    chart.groups.push_back(std::move(group));
  }
  return chart;
}

void add_shares(const std::vector<Line<SectionShares>>& shares, Document& document) {
  std::string counted;
  for (const auto& each : shares)
    counted += fmt::format("{}{:.1f} % of {}", counted.empty() ? "" : ", ", 100 * each.parallel(), short_name(each));
  document.section("Where the time goes, and Amdahl's bound")
      .add(Paragraph{fmt::format(
          "From the report's own share Amdahl's bound is {:.2f} on {} cores, from the sum of its parts {:.2f}; it "
          "prints {:.2f}. The bound is set by the serial rest alone. The line \"parallel in the report\" counts the "
          "sections that the published program counts: {}. It is no limit of ours, since samples are gathered, "
          "gradients added up and weights moved by all threads here.",
          amdahl_bound(published::kParallelShare / 100, published::kDeviceCores), published::kDeviceCores,
          amdahl_bound(0.9771, published::kDeviceCores), published::kAmdahlBound, counted)})
      .add(share_table(shares))
      .add(share_chart(shares));
}

void add_speed(const std::vector<KernelLine>& timings, Document& document) {
  Table table{.title = "One epoch: 199 batches of 1024 points",
              .columns = {column("Kernels"), column("Time", seconds()), column("Against -O0", ratio()),
                          column("Against -O3", ratio()), column("Weights")}};
  BarChart chart{
      .title = "Speed-up against the same loops unoptimised and optimised",
      .description = "Per kind of kernel two bars: against -O0 and against -O3.",
      .axis = {.title = "times as fast", .scale = Scale::log, .format = ratio()},
      .series = {{.name = "against -O0", .tone = Tone::neutral}, {.name = "against -O3", .tone = Tone::simd}}};
  const KernelLine *o0 = on_one_thread(timings, "naive-o0"), *o3 = on_one_thread(timings, "naive"),
                   *simd = on_one_thread(timings, "simd");
  const auto ratio = [](const Result* before, const Result& after) {
    return before == nullptr ? Cell() : Cell(median_of(*before) / median_of(after));
  };
  for (const KernelLine& each : timings) {
    static_cast<void>(median_of(each));  // refuses a result without samples
    const bool same = each.weight_hash == timings[0].weight_hash;
    table.rows.push_back({.cells = {name_cell(each, each), time_cell(each), ratio(o0, each), ratio(o3, each),
                                    same ? Cell("same").marked(Mark::same) : Cell("other rounding")},
                          .mark = &each == o0 ? Mark::baseline : Mark::none,
                          .tone = rung_tone(each)});
    BarGroup group{.label = short_name(each)};
    for (const Result* before : {o0, o3})
      group.bars.emplace_back(before == nullptr ? NAN : median_of(*before) / median_of(each));
    chart.groups.push_back(std::move(group));
  }
  table.rows.push_back(
      {.cells = {Cell("CUDA on a GTX 1050 Ti").noted("a GPU"), Cell(), published::kSpeedUp, Cell(), Cell()},
       .mark = Mark::published,
       .tone = Tone::published});
  table.notes = {"Weights: after the first epoch, compared with those of the first row."};
  std::string words = fmt::format(
      "The published {:.2f}x compares a graphics card with a host program that was compiled without an optimisation "
      "flag. Run again on one processor of 2026, that program takes {:.1f} s unoptimised and {:.2f} s with -O2, {:.1f} "
      "times less: of the {:.2f}x about {:.1f}x would be left.",
      published::kSpeedUp, published::kRerunO0, published::kRerunO2, published::kRerunO0 / published::kRerunO2,
      published::kSpeedUp, published::kSpeedUp * published::kRerunO2 / published::kRerunO0);
  if (const auto flag = compare(o0, o3))
    words += fmt::format(" Here the same plain loops are {} with the compiler's flag.", flag->words());
  if (const auto slow = compare(o0, simd), fast = compare(o3, simd); slow && fast)
    words += fmt::format(
        " SIMD kernels on one thread are {:.3g} times as fast as the unoptimised loops and {:.3g} times "
        "as fast as the optimised ones.",
        slow->ratio, fast->ratio);
  document.section("What the published speed-up was measured against")
      .add(Paragraph{std::move(words)})
      .add(std::move(table))
      .add(std::move(chart));
}

}  // namespace

void describe_quadrants(const Findings& findings, Document& document) {
  if (const auto curve = findings.find_line<QuadrantCurve>(kQuadrantCurve)) add_series(*curve, document);
  if (const auto shares = findings.series<SectionShares>(kQuadrantShares); !shares.empty())
    add_shares(shares, document);
  if (const auto times = findings.series<KernelRecord>(kQuadrantTimes); !times.empty()) add_speed(times, document);
}

}  // namespace lockstep::cli
