// What mpi-digits learns, from its results: costs and precision beside the published ones.

#include <fmt/format.h>

#include "cli/reproduce/mpi_digits/experiment.hpp"
#include "cli/reproduce/mpi_digits/published.hpp"

namespace lockstep::cli {

using namespace report;  // NOLINT(google-build-using-namespace): the words of documents

namespace {

namespace published = digits_published;

std::string data_name(const std::string& source) {
  return source == "digits" ? "5000 digits" : "5000 of Fashion-MNIST at 20x20";
}

/// All that was printed, and ours beside it.
Table cost_table(std::vector<TrainingLine> shown) {
  Table table{.id = "costs",
              .title = "The cost of every iteration",
              .columns = {column("Iteration"),
                          {.title = "Sequential", .unit = "published", .format = fixed(6)},
                          {.title = "GPU mode", .unit = "published", .format = fixed(6)},
                          {.title = "Parallel", .unit = "published", .format = fixed(6)}},
              .notes = {"The listings of the last two print their first and last iterations only. Every run "
                        "draws its own first weights."},
              .folded = true};
  std::erase_if(shown, [](const Result& each) { return each.seed.value_or(0) > 2; });
  for (const Result& each : shown) table.columns.push_back(column(short_name(each), fixed(6)));
  const auto printed = [](const auto& costs, std::size_t i) {  // i from 0
    const std::size_t gap = published::kIterations - costs.end.size();
    return i < costs.begin.size() ? Cell(costs.begin[i]).marked(Mark::published)
           : i >= gap             ? Cell(costs.end[i - gap]).marked(Mark::published)
                                  : Cell();
  };
  for (std::size_t i = 0; i < published::kSequentialCosts.size(); ++i) {
    Row row{.cells = {i + 1, Cell(published::kSequentialCosts[i]).marked(Mark::published),
                      printed(published::kGpuModeCosts, i), printed(published::kParallelCosts, i)}};
    for (const TrainingLine& each : shown) {
      const std::vector<double>& cost = series_of(each, &TrainingRecord::cost);
      row.cells.push_back(i < cost.size() ? Cell(cost[i]) : Cell());
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

void add_training(const std::vector<TrainingLine>& trainings, Document& document) {
  Table table{.title = "60 iterations at rate 0.1",
              .columns = {column("Run"), column("Data"), column("First cost", fixed(4)), column("Last cost", fixed(4)),
                          column("Precision", percent(2))}};
  LineChart chart{.title = "Cost by iteration, published and ours",
                  .description = "The cost over 60 iterations: the published sequential run and ours.",
                  .x = {.title = "iteration", .format = integer()},
                  .y = {.title = "cost", .low = 0}};
  for (const published::Training& each : published::kTrainings) {
    table.rows.push_back({.cells = {each.name, "not clear", each.first_cost, each.last_cost, each.precision},
                          .mark = Mark::published,
                          .tone = Tone::published});
  }
  LineSeries theirs{.name = "published, sequential", .tone = Tone::published, .kind = LineKind::predicted};
  for (std::size_t i = 0; i < published::kSequentialCosts.size(); ++i)
    theirs.points.push_back({static_cast<double>(i + 1), published::kSequentialCosts[i]});
  chart.series.push_back(std::move(theirs));
  for (const TrainingLine& each : trainings) {
    const std::vector<double>& cost = series_of(each, &TrainingRecord::cost);
    const Tone tone = each.data == "digits" ? Tone::simd : Tone::threads;
    table.rows.push_back({.cells = {fmt::format("seed {}", each.seed.value_or(0)), data_name(each.data), cost.front(),
                                    cost.back(), each.precision},
                          .tone = tone});
    if (each.seed.value_or(0) > 2) continue;
    LineSeries line{.name = short_name(each), .tone = tone};
    for (std::size_t i = 0; i < cost.size(); ++i) line.points.push_back({static_cast<double>(i + 1), cost[i]});
    chart.series.push_back(std::move(line));
  }
  table.notes = {
      "Cost: binary cross-entropy summed over the ten outputs, averaged over samples, before the update of its "
      "iteration. Precision: training samples classified right, after the last update."};
  document.section("What is learnt in 60 iterations")
      .add(Paragraph{
          "The first weights are drawn anew by every run of the published program, so its costs cannot be met digit by "
          "digit; what can be compared is the range, and the course of the costs."})
      .add(std::move(table))
      .add(std::move(chart))
      .add(cost_table(trainings));
}

void add_fast(const std::vector<Line<FastRecord>>& results, Document& document) {
  Table table{.title = "Precision at rate 2.0",
              .columns = {column("Iterations"), column("Author's notes, 2016", percent(0))}};
  for (const Result& each : results) table.columns.push_back(column(data_name(short_name(each)), percent(2)));
  LineChart chart{.title = "Precision at rate 2.0",
                  .description = "Share of training samples classified right over the iterations.",
                  .x = {.title = "iterations", .format = integer()},
                  .y = {.title = "precision", .high = 1, .format = percent(0)}};
  LineSeries theirs{.name = "author's notes", .tone = Tone::published, .kind = LineKind::predicted};
  for (std::size_t i = 0; i < published::kFast.size(); ++i) {
    Row row{.cells = {published::kFast[i].iterations, Cell(published::kFast[i].precision).marked(Mark::published)}};
    for (const auto& each : results) row.cells.emplace_back(series_of(each, &FastRecord::precision, i + 1)[i]);
    table.rows.push_back(std::move(row));
    theirs.points.push_back({static_cast<double>(published::kFast[i].iterations), published::kFast[i].precision});
  }
  chart.series.push_back(std::move(theirs));
  for (const auto& each : results) {
    LineSeries line{.name = data_name(short_name(each))};
    const std::vector<double>&precision = series_of(each, &FastRecord::precision),
          &iterations = series_of(each, &FastRecord::iterations, precision.size());
    for (std::size_t i = 0; i < precision.size(); ++i) line.points.push_back({iterations[i], precision[i]});
    chart.series.push_back(std::move(line));
  }
  document.section("With a larger step")
      .add(Paragraph{"The notes of the program's first author give the precision of the same network at rate 2.0."})
      .add(std::move(table))
      .add(std::move(chart));
}

}  // namespace

void describe_digit_training(const Findings& findings, Document& document) {
  if (const auto trainings = findings.series<TrainingRecord>(kDigitTraining); !trainings.empty())
    add_training(trainings, document);
  if (const auto fast = findings.series<FastRecord>(kDigitFast); !fast.empty()) add_fast(fast, document);
}

}  // namespace lockstep::cli
