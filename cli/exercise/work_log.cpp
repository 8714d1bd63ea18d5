#include "cli/exercise/work_log.hpp"

#include <chrono>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "cli/exercise/check/verdict_text.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/file.hpp"
#include "lockstep/core/sha256.hpp"
#include "lockstep/core/version.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/lab/report/write.hpp"

namespace lockstep::cli {

namespace fs = std::filesystem;

namespace {

constexpr std::int64_t kMostLog = std::int64_t{64} << 20;

std::string now_text() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())));
}

}  // namespace

report::Table checks_table(const std::vector<Json>& lines) {
  report::Table table{.id = "checks",
                      .title = "Every check",
                      .columns = {report::column("Check", report::integer()), report::column("When"),
                                  report::column("Source"), report::column("Verdict"), report::column("Cause"),
                                  report::column("Cases right"), report::column("Time per call", report::seconds()),
                                  report::column("× naive", report::ratio(), "times_naive"),
                                  report::column("Of our SIMD kernel", report::percent(0)),
                                  report::column("Of the roof", report::percent(0))}};
  std::int64_t number = 0;
  for (const Json& line : lines) {
    const std::string verdict = line.value("verdict", "");
    report::Row row{
        .cells = {++number, line.value("time", ""), short_hash(line.value("source", "")),
                  report::Cell(verdict).marked(verdict == "right" ? report::Mark::same : report::Mark::differs),
                  line.value("cause", ""),
                  fmt::format("{} of {}", line.value("right_cases", 0), line.value("cases", 0))}};
    if (line.contains("speed")) {
      const Json& speed = line["speed"];
      row.cells.push_back(speed["rows"][0].value("seconds", 0.0));
      row.cells.push_back(speed.value("times_naive", 0.0));
      row.cells.push_back(speed.value("share_of_simd", 0.0));
      row.cells.push_back(speed.value("share_of_roof", 0.0));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

void add_speed_charts(const std::vector<Json>& lines, report::Section& section) {
  report::LineSeries series{.name = "your kernel"};
  double number = 0;
  for (const Json& line : lines) {
    ++number;
    if (line.contains("speed")) series.points.push_back({number, line["speed"]["rows"][0].value("seconds", 0.0), {}});
  }
  if (series.points.empty()) return;
  const Json* last = nullptr;
  for (const Json& line : lines)
    if (line.contains("speed")) last = &line;
  report::BarChart bars{
      .title = "Your last right kernel beside ours",
      .description = "Time per call of your kernel, of plain loops and of our SIMD kernel, measured in turns",
      .axis = {.title = "time per call", .unit = "s", .scale = report::Scale::linear, .format = report::seconds()}};
  for (const Json& row : (*last)["speed"]["rows"])
    bars.groups.push_back(
        {.label = fmt::format("{}, {}", row.value("name", ""), count_of(row.value("threads", 1), "thread")),
         .bars = {report::BarValue(row.value("seconds", 0.0),
                                   report::Interval{row.value("low", 0.0), row.value("high", 0.0)})}});
  if (series.points.size() > 1)
    section.add(report::LineChart{
        .title = "Time per call, check by check",
        .description = "The time of one call of every right version, in the order of the checks",
        .x = {.title = "check"},
        .y = {.title = "time per call", .unit = "s", .scale = report::Scale::log, .format = report::seconds()},
        .series = {series}});
  section.add(std::move(bars));
}

namespace {

report::Document page(const ExerciseFolder& folder, const std::vector<Json>& lines) {
  report::Document document{
      .title = folder.exercise->title,
      .subtitle = fmt::format("Exercise {}, track {}: the work log", folder.exercise->name, folder.track->name),
      .footer = fmt::format("lockstep {}", version())};
  const Json& last = lines.back();
  report::Section& head = document.section("");
  std::string words = fmt::format("After {}: **{}**.", count_of(static_cast<std::int64_t>(lines.size()), "check"),
                                  last.value("verdict", ""));
  for (const Json& each : last["words"]) words += " " + one_line(each.get<std::string>());
  head.add(report::Paragraph{words});
  add_speed_charts(lines, document.section("Speed"));
  document.section("The way").add(checks_table(lines));
  return document;
}

}  // namespace

std::vector<Json> read_work_log(const fs::path& file) {
  std::vector<Json> lines;
  if (!fs::exists(file)) return lines;
  const std::string text = read_text(file, kMostLog);
  for (std::size_t start = 0, number = 1; start < text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    Json line = Json::parse(text.substr(start, end - start), nullptr, false);
    if (!line.is_object())
      throw Error(ErrorCode::data,
                  fmt::format("{}:{}: no line of a work log; remove it", one_line(file.string()), number));
    lines.push_back(std::move(line));
    start = end + 1;
  }
  return lines;
}

void add_to_work_log(const ExerciseFolder& folder, const Verdict& verdict) {
  std::vector<Json> lines = read_work_log(folder.work_log());
  Json line = {{"time", now_text()}};
  line.update(verdict_json(verdict));
  lines.push_back(std::move(line));
  std::string text;
  for (const Json& each : lines) text += each.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  write_file_atomically(folder.work_log(), text);
  report::write_report(page(folder, lines), folder.path, {.json = false, .name = "worklog"});
}

bool solved(const fs::path& file) {
  for (const Json& line : read_work_log(file))
    if (line.value("verdict", "") == "right") return true;
  return false;
}

}  // namespace lockstep::cli
