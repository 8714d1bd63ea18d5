#include "cli/simulate/validation_report.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "cli/simulate/units.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/lab/report/results_page.hpp"

namespace lockstep::cli {

namespace {

constexpr const char* kKind = "validation";
constexpr double kGoal = 0.2;  // the error that simulations are meant to keep within

double needed(const Result& result, const char* key) {
  if (const auto number = result.number(key)) return *number;
  throw Error(ExitCode::data, fmt::format("the validation {} has no {}", result.name, key));
}

void add_times(Result& result, const char* name, const std::vector<MessageTime>& times) {
  for (const MessageTime& each : times) {
    result.series[fmt::format("{}_bytes", name)].push_back(each.bytes);
    result.series[fmt::format("{}_seconds", name)].push_back(each.seconds);
    result.series[fmt::format("{}_cpu_seconds", name)].push_back(each.cpu_seconds);
  }
}

/// One measured input of the simulation, in words.
std::string messages_text(const Result& result, const char* name, const char* where) {
  const auto bytes = result.series.find(fmt::format("{}_bytes", name));
  const auto seconds = result.series.find(fmt::format("{}_seconds", name));
  if (bytes == result.series.end() || seconds == result.series.end() || bytes->second.empty() ||
      bytes->second.size() != seconds->second.size())
    return "";
  return fmt::format(" To swap {:.0f} bytes {} took {}, {:.0f} kB {}.", bytes->second.front(), where,
                     time_text(seconds->second.front()), bytes->second.back() / 1024,
                     time_text(seconds->second.back()));
}

report::Row row_of(const Result& result, double error) {
  using report::Cell;
  const auto same = result.number("same_bits");
  const Cell bits = !same        ? Cell()
                    : *same != 0 ? Cell("same").marked(report::Mark::same)
                                 : Cell("other").marked(report::Mark::differs);
  report::Row row{.cells = {Cell(result.word("way")), Cell(static_cast<int>(needed(result, "ranks"))),
                            report::median_cell(*result.summary()),
                            Cell(needed(result, "simulated_seconds")).marked(report::Mark::simulated), Cell(error),
                            Cell(needed(result, "work_seconds")), bits}};
  if (needed(result, "crowded") != 0) row.cells[1].noted("more than cores");
  return row;
}

std::vector<std::string> notes_of(const std::vector<const Result*>& lines) {
  const Result& first = *lines.front();
  std::vector<std::string> notes = {fmt::format(
      "Measured: the slowest rank's time for a step, the median of {} rounds of {:.0f} steps with its 95 % interval; "
      "batch {:.0f} in {:.0f} slots, {}. Simulated: the same steps, with times that were measured in turns with them: "
      "every rank's own work without messages, messages between two ranks, and naps. Own work: of the busiest rank.",
      first.samples.size(), needed(first, "steps"), needed(first, "batch"), needed(first, "slots"),
      first.word("library"))};
  notes.push_back(fmt::format("A rank that waits looked again every {} (it is busy for {} of that).{}{}",
                              time_text(needed(first, "nap_seconds")), time_text(needed(first, "nap_cpu_seconds")),
                              messages_text(first, "local", "on one host"),
                              messages_text(first, "remote", "between two hosts")));
  if (std::any_of(lines.begin(), lines.end(), [](const Result* each) { return needed(*each, "crowded") != 0; }))
    notes.emplace_back("Where there are more ranks than cores they share them, in the simulation too.");
  return notes;
}

}  // namespace

Result validation_result(const Study& study, const ValidationPoint& point, const StudyNames& names,
                         const ResultOrigin& origin) {
  const MachineModel& model = point.real.model;
  Result result{.kind = kKind,
                .name = fmt::format("{}, {} ranks", point.series, point.ranks),
                .samples = point.real.seconds,
                .configuration = study.plan.config,
                .weight_hash = point.real.weight_hash,
                .origin = origin};
  result.words = {{"way", point.series}, {"config", names.config}, {"library", point.real.library}};
  result.numbers = {{"ranks", point.ranks},
                    {"hosts", 1 + *std::max_element(model.host.begin(), model.host.end())},
                    {"crowded", model.crowded(0) ? 1 : 0},
                    {"batch", double(study.plan.batch)},
                    {"slots", double(study.plan.slots)},
                    {"steps", kRealSteps},
                    {"simulated_seconds", point.simulated},
                    {"work_seconds", point.work},
                    {"nap_seconds", model.nap.seconds},
                    {"nap_cpu_seconds", model.nap.cpu_seconds}};
  if (point.same_bits) result.numbers["same_bits"] = *point.same_bits ? 1 : 0;
  add_times(result, "local", model.local);
  add_times(result, "remote", model.remote);
  return result;
}

report::Document validation_document(std::span<const Result> results) {
  using namespace report;
  std::vector<const Result*> lines;
  for (const Result& each : results)
    if (each.kind == kKind) lines.push_back(&each);
  if (lines.empty()) throw Error(ExitCode::data, "nothing was validated");
  Document document{.title = "Simulated against measured", .subtitle = lines.front()->word("config")};
  Table table{
      .id = "simulated-against-measured",
      .title = "A step of training, measured and simulated",
      .columns = {{.title = "Way", .role = report::Role::call_path},
                  {.title = "Ranks", .role = report::Role::parameter},
                  {.title = "Measured", .format = seconds(), .key = "real_seconds", .role = report::Role::metric},
                  {.title = "Simulated", .format = seconds(), .key = "simulated_seconds", .role = report::Role::metric},
                  {.title = "Error", .format = percent(), .key = "error"},
                  {.title = "Own work", .format = seconds(), .key = "work_seconds"},
                  {.title = "Weights"}}};
  double worst = 0;
  std::string where;
  for (const Result* each : lines) {
    if (each->samples.empty()) throw Error(ExitCode::data, fmt::format("the validation {} has no times", each->name));
    const double error = needed(*each, "simulated_seconds") / each->summary()->median - 1;
    if (where.empty() || std::abs(error) > std::abs(worst)) {
      worst = error;
      where = each->name;
    }
    table.rows.push_back(row_of(*each, error));
  }
  table.notes = notes_of(lines);
  const bool good = std::abs(worst) <= kGoal;
  document.section("Summary").add(Notice{
      .kind = good ? Notice::Kind::good : Notice::Kind::warning,
      .text = fmt::format("The largest error of a **simulated** step is **{:+.1f} %** ({}): {} the {:.0f} % that "
                          "a simulation should keep.",
                          worst * 100, where, good ? "within" : "more than", kGoal * 100)});
  document.section("Steps").add(std::move(table));
  document.section("To repeat it").add(Code{.text = lines.front()->origin.command});
  return document;
}

}  // namespace lockstep::cli
