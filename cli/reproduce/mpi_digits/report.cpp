// The report of mpi-digits, from its results.

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "cli/reproduce/mpi_digits/parts.hpp"
#include "cli/reproduce/mpi_digits/published.hpp"
#include "cli/reproduce/rungs.hpp"
#include "cli/reproduce/timing.hpp"

namespace lockstep::cli {

namespace {

using report::Cell;
using report::Mark;
using report::Tone;

std::string data_name(const std::string& source) {
  return source == "digits" ? "5000 digits" : "5000 of Fashion-MNIST at 20x20";
}

/// All that was printed, and ours beside it.
report::Table cost_table(const std::vector<const Result*>& trainings) {
  report::Table table{.id = "costs",
                      .title = "The cost of every iteration",
                      .columns = {{.title = "Iteration"},
                                  {.title = "Sequential", .unit = "published", .format = report::fixed(6)},
                                  {.title = "GPU mode", .unit = "published", .format = report::fixed(6)},
                                  {.title = "Parallel", .unit = "published", .format = report::fixed(6)}},
                      .notes = {"The listings of the last two print their first and last iterations only. Every run "
                                "draws its own first weights."},
                      .folded = true};
  std::vector<const Result*> shown = trainings;
  std::erase_if(shown, [](const Result* each) { return each->seed.value_or(0) > 2; });
  for (const Result* each : shown) table.columns.push_back({.title = short_name(*each), .format = report::fixed(6)});
  const auto printed = [](const auto& costs, std::size_t iteration) {
    for (const digits_published::PrintedCost& each : costs)
      if (each.iteration == static_cast<int>(iteration)) return Cell(each.cost).marked(Mark::published);
    return Cell();
  };
  for (std::size_t i = 0; i < digits_published::kSequentialCosts.size(); ++i) {
    report::Row row{.cells = {i + 1, Cell(digits_published::kSequentialCosts[i]).marked(Mark::published),
                              printed(digits_published::kGpuModeCosts, i + 1),
                              printed(digits_published::kParallelCosts, i + 1)}};
    for (const Result* each : shown) {
      const std::vector<double>& cost = values_of(*each, "cost");
      row.cells.push_back(i < cost.size() ? Cell(cost[i]) : Cell());
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

void add_training(const Findings& findings, report::Document& document) {
  report::Table table{.title = "60 iterations at rate 0.1",
                      .columns = {{.title = "Run"},
                                  {.title = "Data"},
                                  {.title = "First cost", .format = report::fixed(4)},
                                  {.title = "Last cost", .format = report::fixed(4)},
                                  {.title = "Precision", .format = report::percent(2)}}};
  report::LineChart chart{.title = "Cost by iteration, published and ours",
                          .description = "The cost over 60 iterations: the published sequential run and ours.",
                          .x = {.title = "iteration", .format = report::integer()},
                          .y = {.title = "cost", .low = 0}};
  for (const digits_published::Training& each : digits_published::kTrainings) {
    table.rows.push_back({.cells = {each.name, "not clear", each.first_cost, each.last_cost, each.precision},
                          .mark = Mark::published,
                          .tone = Tone::published});
  }
  report::LineSeries theirs{
      .name = "published, sequential", .tone = Tone::published, .kind = report::LineKind::predicted};
  for (std::size_t i = 0; i < digits_published::kSequentialCosts.size(); ++i)
    theirs.points.push_back({static_cast<double>(i + 1), digits_published::kSequentialCosts[i]});
  chart.series.push_back(std::move(theirs));
  const std::vector<const Result*> trainings = findings.series(kDigitTraining);
  for (const Result* each : trainings) {
    const std::vector<double>& cost = values_of(*each, "cost");
    table.rows.push_back({.cells = {fmt::format("seed {}", each->seed.value_or(0)), data_name(each->word("data")),
                                    cost.front(), cost.back(), each->number("precision")},
                          .tone = each->word("data") == "digits" ? Tone::simd : Tone::threads});
    if (each->seed.value_or(0) > 2) continue;
    report::LineSeries line{.name = short_name(*each),
                            .tone = each->word("data") == "digits" ? Tone::simd : Tone::threads};
    for (std::size_t i = 0; i < cost.size(); ++i) line.points.push_back({static_cast<double>(i + 1), cost[i]});
    chart.series.push_back(std::move(line));
  }
  table.notes = {
      "Cost: binary cross-entropy summed over the ten outputs, averaged over samples, before the update of its "
      "iteration. Precision: training samples classified right, after the last update."};
  document.section("What is learnt in 60 iterations")
      .add(report::Paragraph{
          "The first weights are drawn anew by every run of the published program, so its costs cannot be met digit by "
          "digit; what can be compared is the range, and the course of the costs."})
      .add(std::move(table))
      .add(std::move(chart))
      .add(cost_table(trainings));
}

void add_fast(const Findings& findings, report::Document& document) {
  const auto results = findings.series(kDigitFast);
  report::Table table{
      .title = "Precision at rate 2.0",
      .columns = {{.title = "Iterations"}, {.title = "Author's notes, 2016", .format = report::percent(0)}}};
  for (const Result* each : results)
    table.columns.push_back({.title = data_name(short_name(*each)), .format = report::percent(2)});
  report::LineChart chart{.title = "Precision at rate 2.0",
                          .description = "Share of training samples classified right over the iterations.",
                          .x = {.title = "iterations", .format = report::integer()},
                          .y = {.title = "precision", .high = 1, .format = report::percent(0)}};
  report::LineSeries theirs{.name = "author's notes", .tone = Tone::published, .kind = report::LineKind::predicted};
  for (std::size_t i = 0; i < digits_published::kFast.size(); ++i) {
    report::Row row{.cells = {digits_published::kFast[i].iterations,
                              Cell(digits_published::kFast[i].precision).marked(Mark::published)}};
    for (const Result* each : results) row.cells.emplace_back(values_of(*each, "precision", i + 1)[i]);
    table.rows.push_back(std::move(row));
    theirs.points.push_back(
        {static_cast<double>(digits_published::kFast[i].iterations), digits_published::kFast[i].precision});
  }
  chart.series.push_back(std::move(theirs));
  for (const Result* each : results) {
    report::LineSeries line{.name = data_name(short_name(*each))};
    const std::vector<double>&precision = values_of(*each, "precision"),
          &iterations = values_of(*each, "iterations", precision.size());
    for (std::size_t i = 0; i < precision.size(); ++i) line.points.push_back({iterations[i], precision[i]});
    chart.series.push_back(std::move(line));
  }
  document.section("With a larger step")
      .add(report::Paragraph{
          "The notes of the program's first author give the precision of the same network at rate 2.0."})
      .add(std::move(table))
      .add(std::move(chart));
}

Tone tone_of(const Result& mode) {
  if (short_name(mode) == kPythonMode || mode.word("backend") == "naive") return Tone::naive;
  if (mode.number("ranks").value_or(1) > 1) return Tone::ranks;
  if (mode.word("backend") != "simd") return Tone::device;
  return mode.number("threads").value_or(1) > 1 ? Tone::threads : Tone::simd;
}

/// A line of the table of phases: what they print, and which of our numbers stands beside it.
struct Phase {
  const char* name;
  digits_published::Range digits_published::Listing::*theirs;
  const char* ours;
};
constexpr std::array<Phase, 9> kPhases = {
    {{"broadcast of the weights", &digits_published::Listing::broadcast, "broadcast"},
     {"scatter of the data", &digits_published::Listing::scatter, "scatter"},
     {"load", nullptr, "load"},
     {"hidden layer", &digits_published::Listing::hidden, "hidden"},
     {"output layer", &digits_published::Listing::output, "output"},
     {"cost", &digits_published::Listing::forward, "cost"},
     {"back propagation", &digits_published::Listing::back, "back"},
     {"gather of the gradients", &digits_published::Listing::gather, "gather"},
     {"waiting", nullptr, "wait"}}};

/// "17.4–22.6 ms": the ends of what is printed, in one unit.
Cell range_cell(const digits_published::Range& range) {
  if (range.low < 0) return {};
  Cell cell((range.low + range.high) / 2);
  const bool whole = range.high >= 0.1;
  const double factor = whole ? 1 : 1e3;
  const char* const unit = whole ? "s" : "ms";
  if (range.high > range.low)
    cell.shown(fmt::format("{:.3g}–{:.3g} {}", factor * range.low, factor * range.high, unit));
  return cell.marked(Mark::published);
}

report::Table phase_table(const std::vector<const Result*>& modes) {
  report::Table table{.id = "phases", .title = "An iteration, phase by phase", .columns = {{.title = "Phase"}}};
  for (const digits_published::Listing& each : digits_published::kListings)
    table.columns.push_back({.title = fmt::format("published, {}", each.name), .format = report::seconds()});
  for (const Result* each : modes) table.columns.push_back({.title = short_name(*each), .format = report::seconds()});
  for (const Phase& phase : kPhases) {
    report::Row row{.cells = {phase.name}};
    for (const digits_published::Listing& each : digits_published::kListings)
      row.cells.push_back(phase.theirs != nullptr ? range_cell(each.*phase.theirs) : Cell());
    for (const Result* each : modes) row.cells.emplace_back(each->number(phase.ours));
    table.rows.push_back(std::move(row));
  }
  report::Row whole{.cells = {"the whole iteration"}};
  for (const digits_published::Listing& each : digits_published::kListings)
    whole.cells.push_back(range_cell(each.iteration));
  for (const Result* each : modes) whole.cells.emplace_back(median_of(*each));
  table.rows.push_back(std::move(whole));
  table.notes = {
      "Published: rank 0 of their listings, the smallest and the largest that is printed. Their scatter of inputs and "
      "labels is done in every iteration; ours once before the first, with `data.from = \"rank0\"`, and the line "
      "shows it divided by the iterations; without that key every rank reads the data itself. Load: samples gathered "
      "into chunks. Hidden: product and sigmoid. Cost: here with the sigmoid of the outputs and the gradient. Back: "
      "with "
      "the step of the weights. Gather: here the sum of gradients over slots and ranks, after which every rank has its "
      "part of the new weights; broadcast spreads those.",
      "Ours are means over all iterations of rank 0, the whole iteration the median over all but the first of each "
      "run. The published listings' titles and contents do not agree: the one without parallelism prints scatter and "
      "gather, the one titled GPU says CPU mode."};
  return table;
}

report::Table mode_table(const std::vector<const Result*>& modes, const Result* python) {
  const Result* const sequential = modes.front();
  report::Table table{.title = "The modes",
                      .columns = {{.title = "Mode"},
                                  {.title = "An iteration", .format = report::seconds()},
                                  {.title = "60 iterations", .format = report::seconds()},
                                  {.title = "Against Python loops", .format = report::ratio()},
                                  {.title = "Against sequential SIMD", .format = report::ratio()},
                                  {.title = "Weights"}}};
  const auto row = [&](const Result& mode) {
    const double seconds = median_of(mode);
    Cell weights;
    if (!mode.weight_hash.empty())
      weights = mode.weight_hash == sequential->weight_hash ? Cell("same").marked(Mark::same)
                                                            : Cell("differs").marked(Mark::differs);
    const double workers = mode.number("ranks").value_or(1) * mode.number("threads").value_or(1);
    return report::Row{.cells = {name_cell(mode), time_cell(mode), 60 * seconds,
                                 python != nullptr ? Cell(median_of(*python) / seconds) : Cell(),
                                 median_of(*sequential) / seconds, weights},
                       .mark = workers > mode.origin.machine.processors ? Mark::warning
                               : &mode == sequential                    ? Mark::baseline
                                                                        : Mark::none,
                       .tone = tone_of(mode)};
  };
  for (const digits_published::Listing& each : digits_published::kListings)
    table.rows.push_back({.cells = {fmt::format("published, {}", each.name), range_cell(each.iteration), each.total},
                          .mark = Mark::published,
                          .tone = Tone::published});
  table.rows.push_back({.cells = {"the published program on a server of 2026, 1 core",
                                  digits_published::kRerunIteration, 60 * digits_published::kRerunIteration},
                        .mark = Mark::published,
                        .tone = Tone::published});
  if (python != nullptr) table.rows.push_back(row(*python));
  for (const Result* each : modes) table.rows.push_back(row(*each));
  table.notes = {
      "60 iterations: 60 times the median. Python loops: our own program to the same recipe, a few iterations, scaled "
      "to 60; its costs equal ours to 1e-9. Warning: more workers than this machine has processors."};
  return table;
}

/// The times in words.
std::string seen(const std::vector<const Result*>& modes, const Result* python) {
  const auto& slow = digits_published::kListings[0];
  const auto& fast = digits_published::kListings[1];
  std::string words = fmt::format(
      "Published: 60 iterations in {:.0f} s and {:.0f} s, {:.0f} % less time. Cost and back propagation, which are "
      "loops "
      "over samples in an interpreter, take {:.0f} % of the faster iteration, the matrix products {:.0f} %.",
      slow.total, fast.total, 100 * (1 - fast.total / slow.total),
      100 * (fast.forward.low + fast.back.low) / fast.iteration.low,
      100 * (fast.hidden.low + fast.output.low) / fast.iteration.low);
  const double first = median_of(*modes.front());
  if (python != nullptr)
    words += fmt::format(
        " Here our own loops in Python take {:.2f} s per iteration, and {} {:.2f} ms: {} times as fast.",
        median_of(*python), short_name(*modes.front()), 1e3 * first, ratio_text(median_of(*python) / first));
  for (const Result* each : modes)
    if (each->number("ranks").value_or(1) == 2)
      words += fmt::format(
          " {}: {:.2f} ms per iteration, of which {:.2f} ms go into adding up and spreading gradients and "
          "weights.",
          short_name(*each), 1e3 * median_of(*each),
          1e3 * (each->number("gather").value_or(0) + each->number("broadcast").value_or(0)));
  return words;
}

}  // namespace

void describe_digits(const Findings& findings, report::Document& document) {
  std::vector<const Result*> modes = findings.series(kDigitModes);
  const std::string python_name = fmt::format("{}: {}", kDigitModes, kPythonMode);
  const Result* const python = findings.find(python_name);
  std::erase(modes, python);
  // The baseline first.
  std::stable_partition(modes.begin(), modes.end(), [](const Result* r) { return short_name(*r) == kSequentialMode; });
  if (!modes.empty()) {
    std::vector<const Result*> columns = modes;
    if (python != nullptr) columns.insert(columns.begin(), python);
    std::erase_if(columns,
                  [](const Result* r) { return r->word("backend") == "naive" || short_name(*r) == "SIMD, 1 rank"; });
    document.section("The modes, and where their time goes")
        .add(report::Paragraph{seen(modes, python)})
        .add(mode_table(modes, python))
        .add(phase_table(columns));
    report::BarChart chart{
        .title = "An iteration by mode",
        .description = "Seconds per iteration, one bar per mode.",
        .axis = {.title = "time of an iteration", .scale = report::Scale::log, .format = report::seconds()}};
    for (const digits_published::Listing& each : digits_published::kListings)
      chart.groups.push_back({.label = fmt::format("published, {}", each.name),
                              .bars = {(each.iteration.low + each.iteration.high) / 2},
                              .tone = Tone::published});
    if (python != nullptr)
      chart.groups.push_back({.label = kPythonMode, .bars = {median_of(*python)}, .tone = Tone::naive});
    for (const Result* each : modes)
      chart.groups.push_back({.label = short_name(*each), .bars = {median_of(*each)}, .tone = tone_of(*each)});
    document.sections.back().add(std::move(chart));
  }
  if (!findings.series(kDigitTraining).empty()) add_training(findings, document);
  if (!findings.series(kDigitFast).empty()) add_fast(findings, document);
}

}  // namespace lockstep::cli
