#include "lockstep/run/compare.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "lockstep/config/toml.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/file.hpp"
#include "lockstep/core/version.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/lab/text_table.hpp"
#include "lockstep/run/directory.hpp"

namespace lockstep {

namespace fs = std::filesystem;

namespace {

using report::Cell;
using report::LineChart;
using report::LineSeries;

/// "train.optimizer.lr" -> "0.01": every value that is no table. A list is one value.
void flatten(const Value& value, const std::string& path, std::map<std::string, std::string>& out) {
  if (const ValueTable* table = value.table()) {
    for (const Entry& entry : *table) flatten(entry.value, path.empty() ? entry.key : path + "." + entry.key, out);
    return;
  }
  out[path] = excerpt(value);
}

std::map<std::string, std::string> values_of(const fs::path& directory) {
  std::map<std::string, std::string> values;
  const fs::path file = directory / kConfigFile;
  if (!fs::exists(file)) return values;
  flatten(parse_toml(read_text(file, kMostShownBytes), file.string()), "", values);
  return values;
}

std::vector<KeyDifference> differences(const std::vector<fs::path>& directories) {
  std::vector<std::map<std::string, std::string>> all;
  std::set<std::string> keys;
  for (const fs::path& directory : directories) {
    all.push_back(values_of(directory));
    for (const auto& [key, value] : all.back()) keys.insert(key);
  }
  std::vector<KeyDifference> found;
  for (const std::string& key : keys) {
    KeyDifference difference{.key = key, .values = {}};
    for (const auto& values : all) {
      const auto own = values.find(key);
      difference.values.push_back(own == values.end() ? "-" : own->second);
    }
    const auto& values = difference.values;
    if (std::any_of(values.begin(), values.end(), [&](const std::string& v) { return v != values[0]; }))
      found.push_back(std::move(difference));
  }
  return found;
}

std::optional<std::int64_t> first_other(const RunHistory& one, const RunHistory& other) {
  for (std::size_t i = 0; i < std::min(one.epochs.size(), other.epochs.size()); ++i)
    if (one.epochs[i].scores.weight_hash != other.epochs[i].scores.weight_hash) return other.epochs[i].scores.epoch;
  return std::nullopt;
}

/// The loss of validation where all runs have one, else of training.
LineChart curves(const Comparison& comparison) {
  const bool validation = std::all_of(comparison.runs.begin(), comparison.runs.end(), [](const RunHistory& run) {
    return std::all_of(run.epochs.begin(), run.epochs.end(), [](const RunEpoch& e) { return e.scores.validation; });
  });
  const char* const what = validation ? "Validation loss" : "Training loss";
  LineChart chart{.id = "loss", .title = what, .x = {.title = "Epoch"}, .y = {.title = what}};
  chart.description = fmt::format("{} per epoch of {}.", what, count_of(std::ssize(comparison.runs), "run"));
  for (const RunHistory& run : comparison.runs) {
    LineSeries series{.name = run.name};
    for (const RunEpoch& epoch : run.epochs)
      series.points.push_back(
          {double(epoch.scores.epoch), validation ? epoch.scores.validation->loss : epoch.scores.train.loss});
    if (!series.points.empty()) chart.series.push_back(std::move(series));
  }
  return chart;
}

report::Table scores_table(const Comparison& comparison) {
  report::Table table{.id = "runs",
                      .title = "Runs",
                      .columns = {{.title = "Run"},
                                  {.title = "Epochs"},
                                  {.title = "Training loss", .format = report::significant(4)},
                                  {.title = "Validation loss", .format = report::significant(4)},
                                  {.title = "Test loss", .format = report::significant(4)},
                                  {.title = "Accuracy", .format = report::percent(2)},
                                  {.title = "Time", .format = report::seconds()},
                                  {.title = "Weights"},
                                  {.title = "Bits"}}};
  const auto best = comparison.best();
  for (std::size_t i = 0; i < comparison.runs.size(); ++i) {
    const RunHistory& run = comparison.runs[i];
    const EpochReport* const last = run.epochs.empty() ? nullptr : &run.epochs.back().scores;
    const Scores* const judged = Comparison::judged(run);
    double seconds = 0;
    for (const RunEpoch& epoch : run.epochs) seconds += epoch.seconds.value_or(0);
    const auto other = comparison.first_other_epoch[i];
    const bool same_end = run.weight_hash == comparison.runs[0].weight_hash;
    report::Row row;
    row.cells.emplace_back(i == best ? fmt::format("{} (best)", run.name) : run.name);
    row.cells.emplace_back(std::ssize(run.epochs));
    row.cells.emplace_back(last != nullptr ? Cell(last->train.loss) : Cell());
    row.cells.emplace_back(last != nullptr && last->validation ? Cell(last->validation->loss) : Cell());
    row.cells.emplace_back(run.test ? Cell(run.test->loss) : Cell());
    row.cells.emplace_back(judged != nullptr ? Cell(judged->accuracy()) : Cell());
    row.cells.emplace_back(seconds > 0 ? Cell(seconds) : Cell());
    row.cells.emplace_back(short_hash(run.weight_hash));
    row.cells.emplace_back(i == 0     ? std::string("-")
                           : other    ? fmt::format("differ from epoch {} on", *other)
                           : same_end ? std::string("the same")
                                      : std::string("the same in common epochs"));
    table.rows.push_back(std::move(row));
  }
  table.notes.push_back(
      fmt::format("Bits: whether the weights after each epoch are those of {}.", comparison.runs[0].name));
  return table;
}

report::Table keys_table(const Comparison& comparison) {
  report::Table table{.id = "keys", .title = "What is configured differently", .columns = {{.title = "Key"}}};
  for (const RunHistory& run : comparison.runs) table.columns.push_back({.title = run.name});
  for (const KeyDifference& difference : comparison.keys) {
    report::Row row;
    row.cells.emplace_back(difference.key);
    for (const std::string& value : difference.values) row.cells.emplace_back(value);
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace

const Scores* Comparison::judged(const RunHistory& run) {
  if (run.test) return &*run.test;
  if (run.epochs.empty()) return nullptr;
  const EpochReport& last = run.epochs.back().scores;
  return last.validation ? &*last.validation : run.final_train ? &*run.final_train : &last.train;
}

std::optional<std::size_t> Comparison::best() const {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const Scores* const own = judged(runs[i]);
    if (own != nullptr && own->loss == own->loss && (!found || own->loss < judged(runs[*found])->loss)) found = i;
  }
  return found;
}

Comparison compare_runs(const std::vector<fs::path>& directories) {
  Comparison comparison;
  for (const fs::path& directory : directories) {
    if (!fs::exists(directory / kMetricsFile))
      throw Error(ErrorCode::usage,
                  fmt::format("{}: is no run directory: it holds no {}", directory.string(), kMetricsFile));
    comparison.runs.push_back(read_history(directory));
  }
  comparison.keys = differences(directories);
  for (const RunHistory& run : comparison.runs)
    comparison.first_other_epoch.push_back(first_other(comparison.runs[0], run));
  return comparison;
}

report::Document comparison_document(const Comparison& comparison) {
  report::Document document;
  document.title = fmt::format("{} compared", count_of(std::ssize(comparison.runs), "run"));
  report::Section& scores = document.section("Scores");
  scores.add(scores_table(comparison));
  LineChart chart = curves(comparison);
  if (!chart.series.empty()) scores.add(std::move(chart));
  report::Section& keys = document.section("Configuration");
  if (comparison.keys.empty())
    keys.add(report::Paragraph{"The runs have the same configuration."});
  else
    keys.add(keys_table(comparison));
  document.footer = fmt::format("Made by Lockstep {} from the files of the runs.", version());
  return document;
}

}  // namespace lockstep
