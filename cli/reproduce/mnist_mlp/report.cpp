// The accuracies of mnist-mlp, from its results.

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "cli/reproduce/mnist_mlp/experiment.hpp"
#include "cli/reproduce/mnist_mlp/published.hpp"
#include "cli/reproduce/rungs.hpp"
#include "cli/reproduce/timing.hpp"
#include "lockstep/lab/statistics.hpp"

namespace lockstep::cli {

using namespace report;  // NOLINT(google-build-using-namespace): the words of documents

namespace {

namespace published = mnist_published;

constexpr std::size_t kAboveFrom = 3;  // the epoch

std::string score_text(double share) { return fmt::format("{:.2f} %", 100 * share); }

const std::vector<double>& accuracies(const Line<MnistCurve>& curve) {
  const std::vector<double>& all = series_of(curve, &MnistCurve::validation_accuracy);
  if (all.size() > published::kValidation.size())
    refuse_field(curve, "validation_accuracy", "has more epochs than were published; measure again");
  return all;
}

/// What the accuracies say, in words that follow from them.
std::string verdict(const std::vector<Line<MnistCurve>>& curves) {
  double low = 1, least_test = 1, most_test = 0, largest = 0;
  for (const auto& each : curves) {
    for (std::size_t e = 0; e < accuracies(each).size(); ++e) {
      if (e + 1 >= kAboveFrom) low = std::min(low, accuracies(each)[e]);
      largest = std::max(largest, std::abs(accuracies(each)[e] - published::kValidation[e]));
    }
    least_test = std::min(least_test, each.test_accuracy);
    most_test = std::max(most_test, each.test_accuracy);
  }
  return fmt::format(
      "From epoch {} on the validation accuracy is {} the {:.0f} % that the assignment asks for: at least **{}**. The "
      "largest distance from the published run in any epoch is {:.2f} points; on the test digits ours {}, the "
      "published run has {}. The first weights and the order of the digits are drawn by another generator, so the "
      "digits of the two runs need not be the same.",
      kAboveFrom, low > published::kAsked ? "above" : "not always above", 100 * published::kAsked, score_text(low),
      100 * largest,
      curves.size() == 1 ? "have " + score_text(least_test)
                         : fmt::format("have {} to {}", score_text(least_test), score_text(most_test)),
      score_text(published::kTest));
}

}  // namespace

void describe_mnist(const Findings& findings, Document& document) {
  const auto curves = findings.series<MnistCurve>(kMnistCurves);
  if (curves.empty() && findings.find(fmt::format("{}: {}", ExperimentRun::kLeftOut, kMnistCurves)) == nullptr) return;
  Section& section = document.section("Handwritten digits: accuracy by epoch");
  if (curves.empty()) {
    section.add(Notice{.text = "MNIST was not on this machine, so no accuracy can stand beside the published "
                               "ones. `make data` fetches it."});
    return;
  }
  Table table{.title = "Accuracy on the 10,000 validation digits after each epoch",
              .columns = {column("Epoch"), column("Published", percent(2))}};
  LineChart chart{.title = "Validation accuracy by epoch",
                  .description = "The published run and ours over five epochs.",
                  .x = {.title = "epoch", .format = integer()},
                  .y = {.title = "share of digits", .format = percent(0)}};
  LineSeries theirs{.name = "published", .tone = Tone::published, .kind = LineKind::predicted};
  for (std::size_t e = 0; e < published::kValidation.size(); ++e) {
    theirs.points.push_back({double(e + 1), published::kValidation[e]});
    table.rows.push_back({.cells = {e + 1, Cell(published::kValidation[e]).marked(Mark::published)}});
  }
  table.rows.push_back({.cells = {"test digits", Cell(published::kTest).marked(Mark::published)}});
  table.rows.push_back({.cells = {"an epoch", Cell()}});
  chart.series.push_back(std::move(theirs));
  for (const auto& each : curves) {
    table.columns.push_back(column("Ours, " + short_name(each), percent(2)));
    LineSeries line{.name = "Lockstep, " + short_name(each)};
    for (std::size_t e = 0; e < accuracies(each).size(); ++e) {
      table.rows[e].cells.emplace_back(accuracies(each)[e]);
      line.points.push_back({double(e + 1), accuracies(each)[e]});
    }
    table.rows[published::kValidation.size()].cells.emplace_back(each.test_accuracy);
    table.rows.back().cells.push_back(Cell(median(series_of(each, &MnistCurve::epoch_seconds))).as(seconds()));
    chart.series.push_back(std::move(line));
  }
  table.notes = {"An epoch: the median, 50,000 digits and the validation after them, all processors."};
  section.add(Paragraph{verdict(curves)}).add(std::move(table)).add(std::move(chart));
  const auto timings = findings.series<KernelRecord>(kMnistTimes);
  if (timings.empty()) return;
  Table rungs = rungs_table("One epoch of 5,000 digits, batches of 16", timings);
  rungs.notes.emplace_back(
      "A batch of 16 is one slot, and a slot has one thread: more threads share the optimiser's step only.");
  section.add(std::move(rungs));
}

}  // namespace lockstep::cli
