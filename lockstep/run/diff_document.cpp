// What lockstep diff says: a few sentences, a table of how the difference grows, and a page.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "lockstep/core/version.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/run/run_diff.hpp"

namespace lockstep {

namespace {

/// "the first run (runs/a)".
std::string run_words(const RunDiff& diff, std::size_t run) {
  return fmt::format("the {} run ({})", run == 0 ? "first" : "second", one_line(diff.names[run]));
}

std::string who_is_right(const RunDiff& diff) {
  const auto& here = diff.computed_here;
  if (here[0] == here[1])
    return here[0] ? fmt::format("Both runs have what the backend {} computes here, and other metrics.", diff.reference)
                   : fmt::format("Neither run is what the backend {} computes here.", diff.reference);
  return fmt::format("The backend {} computes here what {} has; {} has other bits.", diff.reference,
                     run_words(diff, here[0] ? 0 : 1), run_words(diff, here[0] ? 1 : 0));
}

std::vector<std::string> sentences(const RunDiff& diff) {
  if (diff.agree)
    return {fmt::format("The runs agree, bit for bit: {} and {} are in both.", count_of(diff.epochs, "epoch"),
                        count_of(diff.checkpoints, "checkpoint"))};
  std::vector<std::string> all;
  if (diff.step)
    all.push_back(fmt::format("The first step that differs is step {}, in its phase {}: {}.", *diff.step, diff.phase,
                              diff.place));
  else
    all.push_back(
        fmt::format("The runs differ at step {} at the latest, and agree at step {}; no file tells more, and "
                    "what happened between cannot be computed again.",
                    diff.first_other, diff.last_same));
  all.push_back(fmt::format("In the files: {}.", diff.evidence));
  if (!diff.state.empty()) all.push_back(fmt::format("In the checkpoints: {}.", diff.state));
  all.push_back(who_is_right(diff));
  for (std::size_t i = 0; i < 2; ++i) {
    if (diff.reproduced[i])
      all.push_back(fmt::format("The backend {} computes here what {} has.", diff.backends[i], run_words(diff, i)));
    if (diff.sound_from[i])
      all.push_back(
          fmt::format("From step {} on, {} is what this machine computes from its checkpoint: it went wrong "
                      "once, before that.",
                      *diff.sound_from[i], run_words(diff, i)));
  }
  all.push_back(
      fmt::format("(\"there\" is the first run, \"here\" the second; {}.)", count_of(diff.replays, "replay")));
  return all;
}

report::Table growth_table(const RunDiff& diff) {
  report::Table table{.id = "growth",
                      .title = "How the difference of the weights grows",
                      .columns = {{.title = "Step"},
                                  {.title = "Largest difference", .format = report::significant(3)},
                                  {.title = "By the largest weight", .format = report::significant(3)},
                                  {.title = "Weights that differ", .format = report::percent(1)},
                                  {.title = "Where it is largest"}}};
  for (const Distance& each : diff.growth) {
    report::Row row;
    row.cells.emplace_back(each.step);
    row.cells.emplace_back(each.largest);
    row.cells.emplace_back(each.relative);
    row.cells.emplace_back(each.elements);
    row.cells.emplace_back(each.where);
    table.rows.push_back(std::move(row));
  }
  return table;
}

report::LineChart growth_chart(const RunDiff& diff) {
  report::LineChart chart{.id = "growth-chart",
                          .title = "Difference of the weights",
                          .x = {.title = "Step", .scale = report::Scale::log},
                          .y = {.title = "Largest difference", .scale = report::Scale::log}};
  chart.description = "The largest difference of a weight between the two runs, by step.";
  report::LineSeries series{.name = "largest difference"};
  for (const Distance& each : diff.growth)
    if (each.largest > 0) series.points.push_back({double(each.step), each.largest});
  if (!series.points.empty()) chart.series.push_back(std::move(series));
  return chart;
}

}  // namespace

std::string RunDiff::verdict() const { return fmt::format("{}", fmt::join(sentences(*this), " ")); }

std::string RunDiff::json() const {
  using Json = nlohmann::ordered_json;
  Json json = {
      {"runs", names}, {"backends", backends}, {"agree", agree}, {"epochs", epochs}, {"checkpoints", checkpoints}};
  if (agree) return json.dump(2);
  json["last_same"] = last_same;
  json["first_other"] = first_other;
  json["evidence"] = evidence;
  json["reference"] = reference;
  json["computed_here"] = computed_here;
  json["reproduced"] = reproduced;
  if (step) json["step"] = *step;
  json["phase"] = phase;
  json["place"] = place;
  json["state"] = state;
  Json sound = Json::array();
  for (const auto& each : sound_from) sound.push_back(each ? Json(*each) : Json());
  json["sound_from"] = std::move(sound);
  json["replays"] = replays;
  Json list = Json::array();
  for (const Distance& each : growth)
    list.push_back({{"step", each.step},
                    {"largest", each.largest},
                    {"relative", each.relative},
                    {"elements", each.elements},
                    {"where", each.where}});
  json["growth"] = std::move(list);
  return json.dump(2);
}

report::Document RunDiff::document() const {
  report::Document document;
  document.title = fmt::format("{} and {}", one_line(names[0]), one_line(names[1]));
  report::Section& section = document.section("");
  section.add(report::Paragraph{verdict()});
  if (!growth.empty()) {
    section.add(growth_table(*this));
    if (report::LineChart chart = growth_chart(*this); !chart.series.empty()) section.add(std::move(chart));
  }
  document.footer = fmt::format("Made by Lockstep {} from the files of the runs.", version());
  return document;
}

}  // namespace lockstep
