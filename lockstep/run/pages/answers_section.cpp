#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "lockstep/core/words.hpp"
#include "lockstep/run/pages/answers.hpp"
#include "lockstep/run/pages/sections.hpp"

namespace lockstep {

namespace {

using report::Cell;

std::string name_of_class(const RunAnswers& answers, std::int64_t k) {
  const auto at = static_cast<std::size_t>(k);
  return at < answers.classes.size() ? answers.classes[at].name : std::to_string(k);
}

std::string part_words(const RunAnswers& answers) { return fmt::format("the {} set", answers.part); }

std::string probability_text(double p) { return fmt::format("{:.1f}\u00a0%", 100 * p); }

/// The pair of classes that is confused most often, in words; empty where there is none.
std::string confused_most(const RunAnswers& answers) {
  std::int64_t most = 0;
  std::size_t truth = 0, answer = 0;
  for (std::size_t i = 0; i < answers.confusion.size(); ++i)
    for (std::size_t k = 0; k < answers.confusion.size(); ++k)
      if (i != k && answers.confusion[i][k] > most) most = answers.confusion[i][k], truth = i, answer = k;
  if (most == 0) return "";
  return fmt::format("Most often **{}** is taken for **{}**: {} of {}.", answers.classes[truth].name,
                     answers.classes[answer].name, with_commas(most), with_commas(answers.classes[truth].samples));
}

report::HeatMap confusion_map(const RunAnswers& answers) {
  report::HeatMap map{
      .id = "confusion",
      .title = "Confusion matrix: right answers on the diagonal",
      .description = fmt::format("Rows are true classes, columns the network's answers, on {}.", part_words(answers)),
      .rows_title = "truth",
      .columns_title = "answer",
      .counts = answers.confusion,
      .note = fmt::format("Counts on {} samples of {}. Colours show the share of the row.",
                          with_commas(answers.samples), part_words(answers))};
  for (const RunAnswers::Class& each : answers.classes) map.names.push_back(each.name);
  return map;
}

report::Table class_table(const RunAnswers& answers) {
  report::Table table{.id = "class-scores",
                      .title = fmt::format("Scores of every class on {}", part_words(answers)),
                      .columns = {{.title = "Class"},
                                  {.title = "Samples", .format = report::integer()},
                                  {.title = "Precision", .format = report::percent(1)},
                                  {.title = "Recall", .format = report::percent(1)},
                                  {.title = "F1", .format = report::percent(1)}},
                      .notes = {"Precision: how many of the answers are right. Recall: how many of the samples are "
                                "found. F1: their harmonic mean."}};
  const auto share = [](std::int64_t part, std::int64_t all) { return all > 0 ? double(part) / double(all) : 0; };
  for (const RunAnswers::Class& each : answers.classes) {
    const double precision = share(each.right, each.answers), recall = share(each.right, each.samples);
    table.rows.push_back({.cells = {each.name, each.samples, precision, recall,
                                    precision + recall > 0 ? 2 * precision * recall / (precision + recall) : 0}});
  }
  constexpr std::size_t kLongest = 20;  // rows that stand open
  table.folded = table.rows.size() > kLongest;
  return table;
}

report::PictureGrid mistake_pictures(const RunAnswers& answers) {
  report::PictureGrid grid{.title = "Worst mistakes",
                           .note = answers.classes.empty()
                                       ? "The largest errors first."
                                       : "Wrong answers of which the network was surest against the truth, the worst "
                                         "first."};
  for (const RunAnswers::Mistake& mistake : answers.worst) {
    report::PictureGrid::Item item{.pictures = {mistake.picture}};
    if (answers.classes.empty()) {
      item.lines = {fmt::format("{:.4g}", mistake.answered_value), fmt::format("truth: {:.4g}", mistake.true_value)};
    } else {
      const std::string truth = name_of_class(answers, mistake.truth), answer = name_of_class(answers, mistake.answer);
      item.lines = {answer};
      if (answers.probabilities) item.lines.front() += fmt::format(" {}", probability_text(mistake.probability));
      item.lines.push_back(fmt::format("truth: {}", truth));
      item.description = fmt::format("sample {}: {}, taken for {}", mistake.sample, truth, answer);
    }
    item.lines.push_back(fmt::format("sample {}", mistake.sample));
    grid.items.push_back(std::move(item));
  }
  return grid;
}

/// Numbers stand flush right.
Cell value_cell(const std::string& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole ? Cell(number).shown(text) : Cell(text);
}

report::Table mistake_table(const RunAnswers& answers) {
  const bool classes = !answers.classes.empty();
  report::Table table{.id = "mistakes",
                      .title = classes ? "Worst mistakes" : "Largest errors",
                      .columns = {{.title = "Sample"},
                                  {.title = "Truth", .format = report::significant(4)},
                                  {.title = "Answer", .format = report::significant(4)}}};
  if (classes && answers.probabilities) table.columns.push_back({.title = "Probability", .format = report::percent(1)});
  if (!classes) table.columns.push_back({.title = "Error", .format = report::significant(3)});
  for (const std::string& name : answers.columns) table.columns.push_back({.title = name});
  for (const RunAnswers::Mistake& mistake : answers.worst) {
    report::Row row{.cells = {mistake.sample}};
    if (classes) {
      row.cells.emplace_back(name_of_class(answers, mistake.truth));
      row.cells.emplace_back(name_of_class(answers, mistake.answer));
      if (answers.probabilities) row.cells.emplace_back(mistake.probability);
    } else {
      row.cells.emplace_back(mistake.true_value);
      row.cells.emplace_back(mistake.answered_value);
      row.cells.emplace_back(mistake.answered_value - mistake.true_value);
    }
    for (const std::string& value : mistake.values) row.cells.push_back(value_cell(value));
    table.rows.push_back(std::move(row));
  }
  return table;
}

void add_mistakes(report::Section& section, const RunAnswers& answers) {
  if (answers.worst.empty()) {
    if (!answers.classes.empty())
      section.add(report::Paragraph{fmt::format("Every answer on {} is right.", part_words(answers))});
    return;
  }
  if (!answers.worst[0].picture.empty())
    section.add(mistake_pictures(answers));
  else
    section.add(mistake_table(answers));
}

report::PointCloud boundary_chart(const RunAnswers& answers) {
  const RunAnswers::Boundary& boundary = *answers.boundary;
  report::PointCloud chart{.id = "boundary",
                           .title = "What the network answers where",
                           .description =
                               "The plane of both features in the colours of the network's answers, with "
                               "samples as points.",
                           .x = {.title = boundary.x_name},
                           .y = {.title = boundary.y_name},
                           .points = boundary.points,
                           .regions = boundary.regions,
                           .note = fmt::format("Areas: the answer, the fuller the surer. Points: {} of {}; crosses are "
                                               "answered wrongly.",
                                               count_of(std::ssize(boundary.points), "sample"), part_words(answers))};
  for (const RunAnswers::Class& each : answers.classes) chart.groups.push_back({.name = each.name});
  return chart;
}

report::Panels prediction_charts(const RunAnswers& answers) {
  const std::string of = answers.outputs > 1 ? " (output 0)" : "";
  report::PointCloud pairs{
      .id = "predictions",
      .title = "Predicted against true",
      .description = "A point for each sample; the closer to the diagonal, the better.",
      .x = {.title = "True value" + of},
      .y = {.title = "Predicted value" + of},
      .diagonal = true,
      .note = fmt::format("{} of {}.", count_of(std::ssize(answers.pairs), "sample"), part_words(answers))};
  report::PointCloud errors{.id = "errors",
                            .title = "Errors over predictions",
                            .description = "Predicted minus true value for each sample, over the predicted value.",
                            .x = {.title = "Predicted value" + of},
                            .y = {.title = "Predicted − true"},
                            .note =
                                "No pattern should be seen here: what could be predicted of the errors was not "
                                "learned."};
  for (const auto& [truth, answer] : answers.pairs) {
    pairs.points.push_back({.x = truth, .y = answer});
    errors.points.push_back({.x = answer, .y = answer - truth});
  }
  report::Panels panels;
  panels.charts.emplace_back(std::move(pairs));
  panels.charts.emplace_back(std::move(errors));
  return panels;
}

}  // namespace

void add_answers(report::Document& document, const RunAnswers& answers) {
  if (answers.classes.empty() && answers.pairs.empty()) return;
  report::Section& section = document.section("Answers");
  if (!answers.pairs.empty()) section.add(prediction_charts(answers));
  if (answers.boundary) section.add(boundary_chart(answers));
  if (!answers.confusion.empty()) {
    if (const std::string words = confused_most(answers); !words.empty()) section.add(report::Paragraph{words});
    section.add(confusion_map(answers));
  }
  if (!answers.classes.empty()) section.add(class_table(answers));
  add_mistakes(section, answers);
}

void add_filters(report::Section& section, const RunAnswers& answers) {
  if (!answers.filters || answers.filters->after.empty()) return;
  const RunAnswers::Filters& filters = *answers.filters;
  report::PictureGrid grid{
      .title = fmt::format("Filters of layer {}, before and after training", filters.layer),
      .note =
          fmt::format("{}Left the initial weights, right the trained ones, on one scale: blue is negative, white is "
                      "0, orange is positive; colours of three channels around grey.",
                      std::ssize(filters.after) < filters.all
                          ? fmt::format("The first {} of {}. ", filters.after.size(), with_commas(filters.all))
                          : "")};
  for (std::size_t f = 0; f < filters.after.size(); ++f)
    grid.items.push_back({.pictures = {filters.before[f], filters.after[f]},
                          .lines = {fmt::format("{}", f)},
                          .description = fmt::format("filter {}", f)});
  section.add(std::move(grid));
}

}  // namespace lockstep
