// render_page DOCUMENT.json FOLDER: writes FOLDER/report.html, a page in the look of all reports (lockstep/lab/report),
// from a document as JSON, which page.py makes:
//   {"title", "subtitle", "footer", "sections": [{"title", "blocks": [...]}]}
// A block is one of
//   {"paragraph": text}   {"notice": text, "kind": "info" | "good" | "warning"}   {"code": text, "title"}
//   {"facts": [[name, value], ...]}   {"headline": [{"value", "label", "detail"}, ...]}
//   {"table": {"title", "columns": [{"title", "unit", "format", "digits", "align"}], "notes", "folded",
//              "rows": [{"cells", "mark", "tone"}]}}
//     a cell: a text, a number, null, or {"value", "low", "high", "mark", "note"}
//   {"bars": {"title", "description", "axis", "note", "series": [{"name", "tone"}],
//             "groups": [{"label", "note", "bars": [null or {"value", "low", "high"}]}]}}
//   {"lines": {"title", "description", "x", "y", "note",
//              "series": [{"name", "tone", "points": [{"x", "y", "low", "high"}]}]}}
// Words for formats, marks and tones are those of the report library; a missing one takes its default.

#include <cmath>
#include <cstdio>
#include <fstream>
#include <limits>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "lockstep/core/error.hpp"
#include "lockstep/lab/report/document.hpp"
#include "lockstep/lab/report/write.hpp"

namespace {

using namespace lockstep;
using namespace lockstep::report;
using Json = nlohmann::ordered_json;

std::string text_of(const Json& json, const char* key) { return json.value(key, std::string()); }

std::optional<double> number_of(const Json& json, const char* key) {
  return json.contains(key) && json[key].is_number() ? std::optional(json[key].get<double>()) : std::nullopt;
}

/// The value of the enumeration, whose last one is given, that has this name.
template <class Enum>
Enum named(const std::string& word, std::string_view (*name)(Enum), Enum last) {
  if (word.empty()) return {};
  for (int i = 1; i <= static_cast<int>(last); ++i)
    if (name(static_cast<Enum>(i)) == word) return static_cast<Enum>(i);
  throw Error(ErrorCode::usage, fmt::format("no mark or tone is called {}", word));
}
Mark mark_of(const Json& json) { return named(text_of(json, "mark"), mark_name, Mark::muted); }
Tone tone_of(const Json& json) { return named(text_of(json, "tone"), tone_name, Tone::simulated); }

Format format_of(const Json& json) {
  constexpr std::pair<std::string_view, Style> kStyles[] = {
      {"", Style::automatic},      {"integer", Style::integer},
      {"fixed", Style::fixed},     {"significant", Style::significant},
      {"percent", Style::percent}, {"ratio", Style::ratio},
      {"seconds", Style::seconds}, {"bytes", Style::bytes}};
  const std::string word = text_of(json, "format");
  for (const auto& [name, style] : kStyles)
    if (name == word) return {style, json.value("digits", 3)};
  throw Error(ErrorCode::usage, fmt::format("no format is called {}", word));
}

std::optional<Interval> interval_of(const Json& json) {
  const auto low = number_of(json, "low"), high = number_of(json, "high");
  return low && high ? std::optional(Interval{*low, *high}) : std::nullopt;
}

Cell cell_of(const Json& json) {
  if (json.is_string()) return json.get<std::string>();
  if (json.is_number_integer()) return json.get<std::int64_t>();
  if (json.is_number()) return json.get<double>();
  if (!json.is_object()) return {};
  Cell cell = cell_of(json.at("value"));
  cell.error = interval_of(json);
  return cell.marked(mark_of(json)).noted(text_of(json, "note"));
}

Table table_of(const Json& json) {
  Table table{.title = text_of(json, "title"), .folded = json.value("folded", false)};
  for (const Json& column : json.at("columns"))
    table.columns.push_back({.title = text_of(column, "title"),
                             .unit = text_of(column, "unit"),
                             .format = format_of(column),
                             .align = text_of(column, "align") == "right" ? Align::right : Align::automatic});
  for (const Json& each : json.at("rows")) {
    Row row{.mark = mark_of(each), .tone = tone_of(each)};
    for (const Json& cell : each.at("cells")) row.cells.push_back(cell_of(cell));
    table.rows.push_back(std::move(row));
  }
  for (const Json& note : json.value("notes", Json::array())) table.notes.push_back(note.get<std::string>());
  return table;
}

Axis axis_of(const Json& json) {
  return {.title = text_of(json, "title"),
          .unit = text_of(json, "unit"),
          .scale = text_of(json, "scale") == "log" ? Scale::log : Scale::linear,
          .low = number_of(json, "low"),
          .high = number_of(json, "high"),
          .format = format_of(json),
          .ticks = json.value("ticks", std::vector<double>())};
}

BarValue bar_of(const Json& json) {
  BarValue bar(json.is_object() ? json.at("value").get<double>() : std::numeric_limits<double>::quiet_NaN());
  if (json.is_object()) bar.error = interval_of(json);
  return bar;
}

BarChart bars_of(const Json& json) {
  BarChart chart{.title = text_of(json, "title"),
                 .description = text_of(json, "description"),
                 .axis = axis_of(json.at("axis")),
                 .note = text_of(json, "note")};
  for (const Json& series : json.at("series")) chart.series.push_back({text_of(series, "name"), tone_of(series)});
  for (const Json& each : json.at("groups")) {
    BarGroup group{.label = text_of(each, "label"), .note = text_of(each, "note")};
    for (const Json& bar : each.at("bars")) group.bars.push_back(bar_of(bar));
    chart.groups.push_back(std::move(group));
  }
  return chart;
}

LineChart lines_of(const Json& json) {
  LineChart chart{.title = text_of(json, "title"),
                  .description = text_of(json, "description"),
                  .x = axis_of(json.at("x")),
                  .y = axis_of(json.at("y")),
                  .note = text_of(json, "note")};
  for (const Json& each : json.at("series")) {
    LineSeries series{.name = text_of(each, "name"), .tone = tone_of(each)};
    for (const Json& point : each.at("points"))
      series.points.push_back({point.at("x").get<double>(), point.at("y").get<double>(), interval_of(point)});
    chart.series.push_back(std::move(series));
  }
  return chart;
}

Facts facts_of(const Json& json) {
  Facts facts;
  for (const Json& pair : json) facts.facts.push_back({pair.at(0).get<std::string>(), pair.at(1).get<std::string>()});
  return facts;
}

Headline headline_of(const Json& json) {
  Headline headline;
  for (const Json& each : json)
    headline.numbers.push_back({text_of(each, "value"), text_of(each, "label"), text_of(each, "detail")});
  return headline;
}

Notice notice_of(const Json& json) {
  const std::string kind = text_of(json, "kind");
  return {.kind = kind == "good"   ? Notice::Kind::good
                  : kind == "info" ? Notice::Kind::info
                                   : Notice::Kind::warning,
          .text = text_of(json, "notice")};
}

Block block_of(const Json& json) {
  if (json.contains("paragraph")) return Paragraph{text_of(json, "paragraph")};
  if (json.contains("notice")) return notice_of(json);
  if (json.contains("code")) return Code{.text = text_of(json, "code"), .title = text_of(json, "title")};
  if (json.contains("facts")) return facts_of(json["facts"]);
  if (json.contains("headline")) return headline_of(json["headline"]);
  if (json.contains("table")) return table_of(json["table"]);
  if (json.contains("bars")) return bars_of(json["bars"]);
  if (json.contains("lines")) return lines_of(json["lines"]);
  throw Error(ErrorCode::usage, "a block of no kind that is known");
}

Document document_of(const Json& json) {
  Document document{.title = text_of(json, "title"), .subtitle = text_of(json, "subtitle")};
  document.footer = text_of(json, "footer");
  for (const Json& each : json.at("sections")) {
    Section& section = document.section(text_of(each, "title"));
    for (const Json& block : each.at("blocks")) section.add(block_of(block));
  }
  return document;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc != 3) throw Error(ErrorCode::usage, "usage: render_page DOCUMENT.json FOLDER");
    std::ifstream file(argv[1]);
    if (!file) throw Error(ErrorCode::usage, fmt::format("cannot read {}", argv[1]));
    for (const auto& path : write_report(document_of(Json::parse(file)), argv[2], {.json = false}))
      fmt::print("{}\n", path.string());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "render_page: %s\n", error.what());
    return 2;
  }
}
