#include "cli/exercise/homework_report.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/exercise/folder.hpp"
#include "cli/exercise/work_log.hpp"
#include "cli/reproduce/mnist_mlp/published.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/file.hpp"
#include "lockstep/core/version.hpp"
#include "lockstep/core/words.hpp"

namespace lockstep::cli {

namespace fs = std::filesystem;

namespace {

constexpr std::int64_t kMostWords = 1 << 18;
constexpr const char *kWordsFile = "report.md", *kMetricsFile = "metrics.jsonl";

/// The last check that was measured; null where there is none.
const Json* last_measured(const std::vector<Json>& lines) {
  const auto found =
      std::find_if(lines.rbegin(), lines.rend(), [](const Json& line) { return line.contains("speed"); });
  return found == lines.rend() ? nullptr : &*found;
}

void add_own_words(const fs::path& folder, report::Section& section) {
  if (!fs::exists(folder / kWordsFile)) {
    section.add(report::Notice{
        .kind = report::Notice::Kind::info,
        .text = fmt::format("No explanation yet: write it into {}, paragraphs with an empty line between them.",
                            one_line((folder / kWordsFile).string()))});
    return;
  }
  const std::string text = read_text(folder / kWordsFile, kMostWords, ErrorCode::usage);
  std::string paragraph;
  const auto flush = [&] {
    if (!trimmed(paragraph).empty()) section.add(report::Paragraph{paragraph});
    paragraph.clear();
  };
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    const std::string line(trimmed(std::string_view(text).substr(start, end - start)));
    if (line.empty()) flush();
    if (!line.empty()) paragraph += (paragraph.empty() ? "" : " ") + line;
    start = end + 1;
  }
  flush();
}

/// What was wrong on the way, every cause once.
void add_way(const std::vector<Json>& lines, report::Section& section) {
  report::List list;
  std::vector<std::string> seen;
  std::int64_t number = 0;
  for (const Json& line : lines) {
    ++number;
    const std::string verdict = line.value("verdict", ""), cause = line.value("cause", "");
    if (verdict == "right" || std::find(seen.begin(), seen.end(), verdict + cause) != seen.end()) continue;
    seen.push_back(verdict + cause);
    const Json words = line.value("words", Json::array());
    list.items.push_back(fmt::format("Check {}: {}. {}", number, verdict,
                                     words.empty() ? std::string() : one_line(words[0].get<std::string>())));
  }
  if (list.items.empty()) return;
  section.add(report::Paragraph{"What was wrong on the way:"});
  section.add(std::move(list));
}

void add_scaling(const Json& speed, report::Section& section) {
  if (!speed.contains("scaling") || speed["scaling"].empty()) return;
  report::Table table{
      .title = "Threads",
      .columns = {report::column("Threads", report::integer()), report::column("Time per call", report::seconds()),
                  report::column("Speed-up", report::ratio()), report::column("Efficiency", report::percent(0)),
                  report::column("Karp-Flatt", report::ratio(), "karp_flatt")}};
  for (const Json& row : speed["scaling"]) {
    report::Row cells{.cells = {row.value("threads", std::int64_t{1}), row.value("seconds", 0.0),
                                row.value("speed_up", 0.0), row.value("efficiency", 0.0)}};
    if (row.contains("karp_flatt")) cells.cells.push_back(row.value("karp_flatt", 0.0));
    table.rows.push_back(std::move(cells));
  }
  section.add(std::move(table));
}

/// The figures of a public solution, for the parts of the assignment that have some.
void add_published(const std::string& exercise, report::Section& section) {
  namespace published = mnist_published;
  const bool is_max = exercise == "max";
  if (!is_max && exercise != "xxt") return;
  const auto& rows = is_max ? published::kMax : published::kXxt;
  const int calls = is_max ? published::kMaxCalls : published::kXxtCalls;
  report::Table table{
      .title = is_max ? "Published: max of 1000x1000" : "Published: X X^T of 784x128",
      .columns = {report::column("Variant"), report::column("Time per call", report::seconds())},
      .notes = {fmt::format("{}; best of 3 times {} calls. Other shapes and another machine than the times above: "
                            "compare the ratios, not the seconds.",
                            published::kPaper, calls)}};
  for (const auto& row : rows) table.rows.push_back({.cells = {row.variant, row.seconds / calls}});
  section.add(std::move(table));
}

report::Table parts_table() {
  return {.title = "Parts",
          .columns = {report::column("Part"), report::column("Track"), report::column("Checks", report::integer()),
                      report::column("First right", report::integer()), report::column("Last verdict"),
                      report::column("Time per call", report::seconds()),
                      report::column("× naive", report::ratio(), "times_naive"),
                      report::column("Of our SIMD kernel", report::percent(0)),
                      report::column("Of the roof", report::percent(0))}};
}

void add_exercise(const fs::path& path, report::Document& document, report::Table& parts) {
  const ExerciseFolder folder = open_exercise_folder(path);
  const std::vector<Json> lines = read_work_log(folder.work_log());
  if (lines.empty())
    throw Error(ErrorCode::usage,
                fmt::format("{0}: no check in its work log; first: lockstep check {0}", one_line(path.string())));
  const auto right =
      std::find_if(lines.begin(), lines.end(), [](const Json& line) { return line.value("verdict", "") == "right"; });
  const std::string verdict = lines.back().value("verdict", "");
  report::Row row{
      .cells = {folder.exercise->title, folder.track->name, std::int64_t(lines.size()),
                right == lines.end() ? report::Cell("-") : report::Cell(right - lines.begin() + 1),
                report::Cell(verdict).marked(verdict == "right" ? report::Mark::same : report::Mark::differs)}};
  report::Section& section = document.section(fmt::format("{} ({})", folder.exercise->title, folder.track->name));
  add_own_words(path, section);
  add_way(lines, section);
  if (const Json* const last = last_measured(lines)) {
    const Json& speed = (*last)["speed"];
    for (const char* const key : {"times_naive", "share_of_simd", "share_of_roof"}) {
      if (row.cells.size() == 5) row.cells.push_back(speed["rows"][0].value("seconds", 0.0));
      row.cells.push_back(speed.value(key, 0.0));
    }
    section.add(
        report::Paragraph{fmt::format("Limit: {}. Next: {}.", speed.value("limit", ""), speed.value("next", ""))});
    add_speed_charts(lines, section);
    add_scaling(speed, section);
  }
  add_published(folder.exercise->name, section);
  section.add(checks_table(lines));
  parts.rows.push_back(std::move(row));
}

/// A share or loss of a line of metrics.jsonl, where it has it.
void add_number(const Json& line, const char* set, const char* what, report::Row& row) {
  const Json* const found =
      line.contains(set) && line[set].is_object() && line[set].contains(what) ? &line[set][what] : nullptr;
  row.cells.push_back(found != nullptr && found->is_number() ? report::Cell(found->get<double>()) : report::Cell("-"));
}

void add_run(const fs::path& path, report::Document& document, report::Table& parts) {
  const std::vector<Json> lines = read_work_log(path / kMetricsFile);
  report::Section& section = document.section(fmt::format("Training: {}", one_line(path.filename().string())));
  add_own_words(path, section);
  report::Table table{.title = "Epochs",
                      .columns = {report::column("Epoch", report::integer()), report::column("Training loss"),
                                  report::column("Validation accuracy", report::percent(2)),
                                  report::column("Test accuracy", report::percent(2))}};
  for (const Json& line : lines) {
    report::Row row{.cells = {line.contains("epoch") ? report::Cell(line.value("epoch", 0)) : report::Cell("end")}};
    add_number(line, "train", "loss", row);
    add_number(line, "validation", "accuracy", row);
    add_number(line, "test", "accuracy", row);
    table.rows.push_back(std::move(row));
  }
  section.add(std::move(table));
  parts.rows.push_back({.cells = {"Training", "", "", "", "trained"}});
}

}  // namespace

report::Document homework_report(const std::vector<fs::path>& folders) {
  report::Document document{.title = "Report", .footer = fmt::format("lockstep {}", version())};
  report::Section& head = document.section("");
  report::Table parts = parts_table();
  for (const fs::path& each : folders) {
    if (fs::exists(each / kTaskFile))
      add_exercise(each, document, parts);
    else if (fs::exists(each / kMetricsFile))
      add_run(each, document, parts);
    else
      throw Error(ErrorCode::usage,
                  fmt::format("{}: neither task.toml of an exercise nor metrics.jsonl of a training run",
                              one_line(each.string())));
  }
  std::int64_t right = 0;
  for (const report::Row& row : parts.rows) right += row.cells[4].mark == report::Mark::same ? 1 : 0;
  document.subtitle =
      fmt::format("{}, {} right by the contract", count_of(std::int64_t(parts.rows.size()), "part"), right);
  head.add(std::move(parts));
  return document;
}

}  // namespace lockstep::cli
