// The report of mpi-digits, from its results.

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "cli/reproduce/mpi_digits_parts.hpp"
#include "cli/reproduce/mpi_digits_published.hpp"
#include "cli/reproduce/timing.hpp"

namespace lockstep::cli {

namespace {

using report::Cell;
using report::Mark;
using report::Tone;

std::string data_name(const std::string& source) {
  return source == "digits" ? "5000 digits" : "5000 of Fashion-MNIST at 20x20";
}

/// Whose last costs the published ones are among: the report speaks of Fashion-MNIST, its program reads the digits.
std::string which_data(const Findings& findings) {
  std::map<std::string, std::pair<double, double>> ranges;
  for (const Result* each : findings.series(kDigitTraining)) {
    const double last = values_of(*each, "cost").back();
    auto& range = ranges.try_emplace(each->word("data"), last, last).first->second;
    range = {std::min(range.first, last), std::max(range.second, last)};
  }
  if (ranges.size() < 2) return "";
  return fmt::format(
      " Which data the published runs had can be read from their ends: the last costs here are {:.4f} to {:.4f} on the "
      "digits and {:.4f} to {:.4f} on Fashion-MNIST, theirs {:.4f} to {:.4f}.",
      ranges["digits"].first, ranges["digits"].second, ranges["fashion"].first, ranges["fashion"].second,
      digits_published::kTrainings[2].last_cost, digits_published::kTrainings[0].last_cost);
}

void add_training(const Findings& findings, report::Document& document) {
  report::Table table{.title = "60 iterations at rate 0.1",
                      .columns = {{.title = "Run"},
                                  {.title = "Data"},
                                  {.title = "First cost", .format = report::fixed(4)},
                                  {.title = "Last cost", .format = report::fixed(4)},
                                  {.title = "Precision", .format = report::percent(2)}}};
  report::LineChart chart{.title = "Cost by iteration: the first weights are forgotten",
                          .description = "The cost of five trainings over 60 iterations, with the published ends.",
                          .x = {.title = "iteration", .format = report::integer()},
                          .y = {.title = "cost", .low = 0}};
  for (const digits_published::Training& each : digits_published::kTrainings) {
    table.rows.push_back({.cells = {each.name, "not clear", each.first_cost, each.last_cost, each.precision},
                          .mark = Mark::published,
                          .tone = Tone::published});
    chart.annotations.push_back({.x = 1, .y = each.first_cost, .text = "published"});
  }
  for (const Result* each : findings.series(kDigitTraining)) {
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
  chart.annotations.push_back({.x = digits_published::kIterations * 0.75,
                               .y = digits_published::kTrainings[0].last_cost + 0.4,
                               .text = "published: 3.2105 to 3.2175"});
  document.section("What is learnt in 60 iterations")
      .add(report::Paragraph{
          std::string(
              "The first weights are drawn anew by every run of the published program, so its costs cannot be met "
              "digit by "
              "digit; what can be compared is the range. At rate 0.1 the network has hardly begun: whatever the first "
              "weights, 60 iterations end near a cost of 3.2, which is what ten outputs give that have learnt to say "
              "\"one in ten\" and little more (3.25), and the precision is a matter of chance.") +
          which_data(findings)})
      .add(std::move(table))
      .add(std::move(chart));
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
          "The same network learns well when it is allowed to: the notes of the program's first author "
          "give precision at rate 2.0."})
      .add(std::move(table))
      .add(std::move(chart));
}

/// A line of the table of phases: what they print, and which of our numbers stands beside it.
struct PhaseLine {
  const char* name;
  digits_published::Range digits_published::Listing::*theirs;
  const char* ours;
};
constexpr std::array<PhaseLine, 8> kPhaseLines = {
    {{"broadcast of the weights", nullptr, "broadcast"},
     {"scatter of inputs and labels", &digits_published::Listing::scatter, "load"},
     {"hidden layer", &digits_published::Listing::hidden, "hidden"},
     {"output layer", &digits_published::Listing::output, "output"},
     {"cost", &digits_published::Listing::forward, "cost"},
     {"back propagation", &digits_published::Listing::back, "back"},
     {"gather of the gradients", &digits_published::Listing::gather, "gather"},
     {"waiting", nullptr, "wait"}}};

Cell range_cell(const digits_published::Range& range) {
  if (range.low < 0) return {};
  Cell cell((range.low + range.high) / 2);
  if (range.high > range.low) cell.interval(range.low, range.high);
  return cell.marked(Mark::published);
}

report::Table phase_table(const std::vector<const Result*>& modes) {
  report::Table table{.title = "Seconds per iteration, phase by phase", .columns = {{.title = "Phase"}}};
  for (const digits_published::Listing& each : digits_published::kListings)
    table.columns.push_back({.title = fmt::format("Published, {}", each.name), .format = report::seconds()});
  for (const Result* each : modes) table.columns.push_back({.title = short_name(*each), .format = report::seconds()});
  for (const PhaseLine& line : kPhaseLines) {
    report::Row row{.cells = {line.name}};
    for (const digits_published::Listing& each : digits_published::kListings)
      row.cells.push_back(line.theirs != nullptr ? range_cell(each.*line.theirs) : Cell());
    for (const Result* each : modes) row.cells.emplace_back(each->number(line.ours));
    table.rows.push_back(std::move(row));
  }
  report::Row whole{.cells = {"the whole iteration"}};
  for (const digits_published::Listing& each : digits_published::kListings)
    whole.cells.push_back(range_cell(each.iteration));
  for (const Result* each : modes) whole.cells.push_back(time_cell(*each));
  table.rows.push_back(std::move(whole));
  table.notes = {
      "Theirs: rank 0 of their listings, ranges as printed. Scatter has no counterpart here: every rank holds the data "
      "and takes its share of each batch; the line shows the time to gather samples into chunks. Hidden layer: product "
      "and sigmoid. Cost here includes the sigmoid of the outputs, the cost and its gradient. Back propagation "
      "includes "
      "the step of the weights. Gather here is the sum of gradients over slots and ranks, after which every rank has "
      "its part of the new weights; broadcast spreads those.",
      "Ours are means over all iterations of rank 0, the whole iteration the median over all but the first of each "
      "run. The published listings' titles and contents do not agree: the one without parallelism prints scatter and "
      "gather, the one titled GPU says CPU mode."};
  return table;
}

Tone tone_of(const Result& mode) {
  if (short_name(mode) == kPythonMode || mode.word("backend") == "naive") return Tone::naive;
  if (mode.number("ranks").value_or(1) > 1) return Tone::ranks;
  if (mode.word("backend") != "simd") return Tone::device;
  return mode.number("threads").value_or(1) > 1 ? Tone::threads : Tone::simd;
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
    return report::Row{.cells = {short_name(mode), time_cell(mode), 60 * seconds,
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
      "to 60; its costs equal ours to 1e-9. Warning: more workers than this machine has processors.",
      kDeviceNote};
  return table;
}

std::string verdict(const std::vector<const Result*>& modes, const Result* python) {
  const auto& slow = digits_published::kListings[0];
  const auto& fast = digits_published::kListings[1];
  const auto named = [&](const std::string& name) -> const Result* {
    const auto found =
        std::find_if(modes.begin(), modes.end(), [&](const Result* r) { return short_name(*r) == name; });
    return found == modes.end() ? nullptr : *found;
  };
  std::string words = fmt::format(
      "Published: 60 iterations in {:.0f} s and {:.0f} s, \"about 30 % faster in parallel\" ({:.0f} % less time). Most "
      "of "
      "it is spent in loops over samples in an interpreter: cost and back propagation take {:.0f} % of the faster "
      "iteration, the matrix products 3 %. ",
      slow.total, fast.total, 100 * (1 - fast.total / slow.total),
      100 * (fast.forward.low + fast.back.low) / fast.iteration.low);
  const double simd = median_of(*modes.front());
  if (python != nullptr)
    words += fmt::format(
        "Such loops take {:.2f} s per iteration here, and the same work on one thread without an interpreter {:.1f} "
        "ms: **{:.0f} times** less, before anything runs in parallel. ",
        median_of(*python), 1e3 * simd, median_of(*python) / simd);
  if (const Result* const two = named("SIMD, 2 ranks"))
    words += fmt::format(
        "Two ranks are {:.2f} times as fast as that: of their {:.2f} ms per iteration, {:.2f} ms go into adding up and "
        "spreading gradients and weights. ",
        simd / median_of(*two), 1e3 * median_of(*two),
        1e3 * (two->number("gather").value_or(0) + two->number("broadcast").value_or(0)));
  const bool same = std::all_of(modes.begin(), modes.end(),
                                [&](const Result* r) { return r->weight_hash == modes.front()->weight_hash; });
  words +=
      same ? "All modes of ours end with the same weights, bit for bit; the published modes differ in theirs already "
             "by their first weights, so that a wrong gradient would not be seen."
           : "**Not all modes end with the same weights**: see the table.";
  return words;
}

}  // namespace

void describe_digits(const Findings& findings, report::Document& document) {
  std::vector<const Result*> modes = findings.series(kDigitModes);
  const std::string python_name = fmt::format("{}: {}", kDigitModes, kPythonMode);
  const Result* const python = findings.find(python_name);
  std::erase(modes, python);
  // The baseline first.
  std::stable_partition(modes.begin(), modes.end(),
                        [](const Result* r) { return short_name(*r) == "sequential, SIMD"; });
  if (!modes.empty()) {
    std::vector<const Result*> columns = modes;
    if (python != nullptr) columns.insert(columns.begin(), python);
    std::erase_if(columns,
                  [](const Result* r) { return r->word("backend") == "naive" || short_name(*r) == "SIMD, 1 rank"; });
    document.section("What is seen")
        .add(report::Paragraph{verdict(modes, python)})
        .add(mode_table(modes, python))
        .add(phase_table(columns));
    report::BarChart chart{
        .title = "An iteration by mode",
        .description = "Seconds per iteration, logarithmic, one bar per mode.",
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
