// The report of mpi-digits, from its results.

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "cli/reproduce/mpi_digits/experiment.hpp"
#include "cli/reproduce/mpi_digits/published.hpp"
#include "cli/reproduce/rungs.hpp"
#include "cli/reproduce/timing.hpp"

namespace lockstep::cli {

using namespace report;  // NOLINT(google-build-using-namespace): the words of documents

namespace {

namespace published = digits_published;

Tone tone_of(const ModeLine& mode) {
  if (short_name(mode) == kPythonMode || mode.kernel.backend == "naive") return Tone::naive;
  if (mode.ranks > 1) return Tone::ranks;
  if (mode.kernel.backend != "simd") return Tone::device;
  return mode.kernel.threads > 1 ? Tone::threads : Tone::simd;
}

/// A line of the table of phases: what they print, and which of our numbers stands beside it.
struct Phase {
  const char* name;
  published::Range published::Listing::*theirs;
  PhaseMember ours;
};
constexpr std::array<Phase, 9> kPhases = {
    {{"broadcast of the weights", &published::Listing::broadcast, &DigitPhases::broadcast},
     {"scatter of the data", &published::Listing::scatter, &DigitPhases::scatter},
     {"load", nullptr, &DigitPhases::load},
     {"hidden layer", &published::Listing::hidden, &DigitPhases::hidden},
     {"output layer", &published::Listing::output, &DigitPhases::output},
     {"cost", &published::Listing::forward, &DigitPhases::cost},
     {"back propagation", &published::Listing::back, &DigitPhases::back},
     {"gather of the gradients", &published::Listing::gather, &DigitPhases::gather},
     {"waiting", nullptr, &DigitPhases::wait}}};

/// "17.4–22.6 ms": the ends of what is printed, in one unit.
Cell range_cell(const published::Range& range) {
  if (range.low < 0) return {};
  Cell cell((range.low + range.high) / 2);
  const bool whole = range.high >= 0.1;
  const double factor = whole ? 1 : 1e3;
  const char* const unit = whole ? "s" : "ms";
  if (range.high > range.low)
    cell.shown(fmt::format("{:.3g}–{:.3g} {}", factor * range.low, factor * range.high, unit));
  return cell.marked(Mark::published);
}

Table phase_table(const std::vector<ModeLine>& modes) {
  Table table{.id = "phases", .title = "An iteration, phase by phase", .columns = {column("Phase")}};
  for (const published::Listing& each : published::kListings)
    table.columns.push_back(column(fmt::format("published, {}", each.name), seconds()));
  for (const Result& each : modes) table.columns.push_back(column(short_name(each), seconds()));
  for (const Phase& phase : kPhases) {
    Row row{.cells = {phase.name}};
    for (const published::Listing& each : published::kListings)
      row.cells.push_back(phase.theirs != nullptr ? range_cell(each.*phase.theirs) : Cell());
    for (const ModeRecord& each : modes) row.cells.emplace_back(each.phases.*phase.ours);
    table.rows.push_back(std::move(row));
  }
  Row whole{.cells = {"the whole iteration"}};
  for (const published::Listing& each : published::kListings) whole.cells.push_back(range_cell(each.iteration));
  for (const Result& each : modes) whole.cells.emplace_back(median_of(each));
  table.rows.push_back(std::move(whole));
  table.notes = {
      "Published: rank 0 of their listings, the smallest and the largest that is printed. Their scatter of inputs and "
      "labels is done in every iteration; ours once before the first, with `data.from = \"rank0\"`, and the line shows "
      "it divided by the iterations; without that key every rank reads the data itself. Load: samples gathered into "
      "chunks. Hidden: product and sigmoid. Cost: here with the sigmoid of the outputs and the gradient. Back: with "
      "the step of the weights. Gather: here the sum of gradients over slots and ranks, after which every rank has its "
      "part of the new weights; broadcast spreads those.",
      "Ours are means over all iterations of rank 0, the whole iteration the median over all but the first of each "
      "run. The published listings' titles and contents do not agree: the one without parallelism prints scatter and "
      "gather, the one titled GPU says CPU mode."};
  return table;
}

Table mode_table(const std::vector<ModeLine>& modes, const ModeLine* python) {
  const ModeLine& sequential = modes.front();
  Table table{.title = "The modes",
              .columns = {column("Mode"), column("An iteration", seconds()), column("60 iterations", seconds()),
                          column("Against Python loops", ratio()), column("Against sequential SIMD", ratio()),
                          column("Weights")}};
  const auto row = [&](const ModeLine& mode) {
    const double seconds = median_of(mode);
    Cell weights;
    if (!mode.weight_hash.empty())
      weights = mode.weight_hash == sequential.weight_hash ? Cell("same").marked(Mark::same)
                                                           : Cell("differs").marked(Mark::differs);
    return Row{.cells = {name_cell(mode, mode.kernel), time_cell(mode), 60 * seconds,
                         python != nullptr ? Cell(median_of(*python) / seconds) : Cell(),
                         median_of(sequential) / seconds, weights},
               .mark = mode.ranks * mode.kernel.threads > mode.origin.machine.processors ? Mark::warning
                       : &mode == &sequential                                            ? Mark::baseline
                                                                                         : Mark::none,
               .tone = tone_of(mode)};
  };
  for (const published::Listing& each : published::kListings)
    table.rows.push_back({.cells = {fmt::format("published, {}", each.name), range_cell(each.iteration), each.total},
                          .mark = Mark::published,
                          .tone = Tone::published});
  table.rows.push_back({.cells = {"the published program on a server of 2026, 1 core", published::kRerunIteration,
                                  60 * published::kRerunIteration},
                        .mark = Mark::published,
                        .tone = Tone::published});
  if (python != nullptr) table.rows.push_back(row(*python));
  for (const ModeLine& each : modes) table.rows.push_back(row(each));
  table.notes = {
      "60 iterations: 60 times the median. Python loops: our own program to the same recipe, a few iterations, scaled "
      "to 60; its costs equal ours to 1e-9. Warning: more workers than this machine has processors."};
  return table;
}

/// The times in words.
std::string seen(const std::vector<ModeLine>& modes, const ModeLine* python) {
  const auto& slow = published::kListings[0];
  const auto& fast = published::kListings[1];
  std::string words = fmt::format(
      "Published: 60 iterations in {:.0f} s and {:.0f} s, {:.0f} % less time. Cost and back propagation, which are "
      "loops over samples in an interpreter, take {:.0f} % of the faster iteration, the matrix products {:.0f} %.",
      slow.total, fast.total, 100 * (1 - fast.total / slow.total),
      100 * (fast.forward.low + fast.back.low) / fast.iteration.low,
      100 * (fast.hidden.low + fast.output.low) / fast.iteration.low);
  const double first = median_of(modes.front());
  if (python != nullptr)
    words +=
        fmt::format(" Here our own loops in Python take {:.2f} s per iteration, and {} {:.2f} ms: {} times as fast.",
                    median_of(*python), short_name(modes.front()), 1e3 * first, ratio_text(median_of(*python) / first));
  for (const ModeLine& each : modes)
    if (each.ranks == 2)
      words += fmt::format(
          " {}: {:.2f} ms per iteration, of which {:.2f} ms go into adding up and spreading gradients and weights.",
          short_name(each), 1e3 * median_of(each),
          1e3 * (each.phases.gather.value_or(0) + each.phases.broadcast.value_or(0)));
  return words;
}

void add_modes(const std::vector<ModeLine>& modes, const ModeLine* python, Document& document) {
  std::vector<ModeLine> columns = modes;
  if (python != nullptr) columns.insert(columns.begin(), *python);
  std::erase_if(columns, [](const ModeLine& each) {
    return each.kernel.backend == "naive" || short_name(each) == "SIMD, 1 rank";
  });
  BarChart chart{.title = "An iteration by mode",
                 .description = "Seconds per iteration, one bar per mode.",
                 .axis = {.title = "time of an iteration", .scale = Scale::log, .format = seconds()}};
  for (const published::Listing& each : published::kListings)
    chart.groups.push_back({.label = fmt::format("published, {}", each.name),
                            .bars = {(each.iteration.low + each.iteration.high) / 2},
                            .tone = Tone::published});
  if (python != nullptr)
    chart.groups.push_back({.label = kPythonMode, .bars = {median_of(*python)}, .tone = Tone::naive});
  for (const ModeLine& each : modes)
    chart.groups.push_back({.label = short_name(each), .bars = {median_of(each)}, .tone = tone_of(each)});
  document.section("The modes, and where their time goes")
      .add(Paragraph{seen(modes, python)})
      .add(mode_table(modes, python))
      .add(phase_table(columns))
      .add(std::move(chart));
}

}  // namespace

void describe_digits(const Findings& findings, Document& document) {
  const auto all = findings.series<ModeRecord>(kDigitModes);
  const ModeLine* const python = first_where(all, [](const ModeLine& each) { return short_name(each) == kPythonMode; });
  std::vector<ModeLine> modes = all;
  std::erase_if(modes, [](const ModeLine& each) { return short_name(each) == kPythonMode; });
  // The baseline first.
  std::stable_partition(modes.begin(), modes.end(),
                        [](const ModeLine& each) { return short_name(each) == kSequentialMode; });
  if (!modes.empty()) add_modes(modes, python, document);
  describe_digit_training(findings, document);
}

}  // namespace lockstep::cli
