#include "lockstep/lab/report/results_page.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lockstep/core/sha256.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/lab/text_table.hpp"

namespace lockstep::report {

namespace {

std::string caches_text(const MachineDescription& machine) {
  std::vector<std::string> parts;
  for (const CacheLevel& cache : machine.caches)
    if (cache.type != "Instruction")
      parts.push_back(fmt::format("L{} {}{}", cache.level, format_number(static_cast<double>(cache.bytes), bytes()),
                                  cache.shared_by > 1 ? fmt::format(" for {} processors", cache.shared_by) : ""));
  return fmt::format("{}", fmt::join(parts, ", "));
}

Row result_row(const Result& result, bool hashes) {
  Row row{.cells = {result.name}};
  if (const auto summary = result.summary())
    row.cells.push_back(median_cell(*summary).sampled(result.samples));
  else
    row.cells.emplace_back();
  row.cells.emplace_back(result.unit);
  row.cells.emplace_back(result.samples.size());
  std::vector<std::string> more;
  for (const auto& [key, value] : result.numbers) more.push_back(fmt::format("{} {}", key, format_number(value, {})));
  for (const auto& [key, value] : result.words) more.push_back(fmt::format("{} {}", key, value));
  row.cells.emplace_back(fmt::format("{}", fmt::join(more, ", ")));
  if (hashes) row.cells.emplace_back(short_hash(result.weight_hash));
  return row;
}

Table kind_table(const std::string& kind, std::span<const Result> results) {
  const bool hashes = std::any_of(results.begin(), results.end(),
                                  [&](const Result& r) { return r.kind == kind && !r.weight_hash.empty(); });
  Table table{
      .id = kind,
      .title = fmt::format("Results of the kind {}", kind),
      .columns = {column("Name"), column("Median", significant(4)), column("Unit"), column("Samples"), column("More")},
      .notes = {"Behind the median: its interval at 95 %, or the number of samples where they are fewer than 6."}};
  if (hashes) table.columns.push_back(column("Weights"));
  for (const Result& result : results)
    if (result.kind == kind) table.rows.push_back(result_row(result, hashes));
  return table;
}

}  // namespace

Cell median_cell(const Summary& summary) {
  Cell cell(summary.median);
  return summary.interval ? cell.interval(summary.interval->low, summary.interval->high)
                          : cell.noted(too_few_text(summary.count));
}

Facts machine_facts(const ResultOrigin& origin) {
  const MachineDescription& machine = origin.machine;
  Facts facts{.title = "Machine",
              .facts = {{"Processor", machine.processor},
                        {"Cores", fmt::format("{}, {}", machine.cores, count_of(machine.processors, "processor"))}}};
  const auto add = [&](std::string name, std::string value) {
    if (!value.empty()) facts.facts.push_back({std::move(name), std::move(value)});
  };
  add("Caches", caches_text(machine));
  add("Instruction sets", fmt::format("{}", fmt::join(machine.instruction_sets, ", ")));
  add("Load at the start", fmt::format("{:.2f}", machine.load));
  for (const auto& [name, version] : origin.versions) add(name == "lockstep" ? "Lockstep" : name, version);
  if (origin.commit != "unknown") add("Commit", origin.commit);
  add("Time", origin.time);
  return facts;
}

std::vector<Notice> warning_notices(std::span<const Result> results) {
  std::vector<std::string> order;
  std::map<std::string, int> counts;
  for (const Result& result : results)
    for (const std::string& warning : result.warnings)
      if (counts[warning]++ == 0) order.push_back(warning);
  std::vector<Notice> out;
  for (const std::string& warning : order) {
    const auto concerned = static_cast<std::size_t>(counts[warning]);
    out.push_back({.text = concerned == results.size()
                               ? warning
                               : fmt::format("{} ({} of {} results)", warning, concerned, results.size())});
  }
  return out;
}

Document results_document(std::span<const Result> results) {
  std::vector<std::string> kinds;
  std::set<std::string> commands;
  for (const Result& result : results) {
    if (std::find(kinds.begin(), kinds.end(), result.kind) == kinds.end()) kinds.push_back(result.kind);
    if (!result.origin.command.empty()) commands.insert(result.origin.command);
  }
  Document document{.title = "Results",
                    .subtitle = fmt::format("{} results of the kinds {}", results.size(), fmt::join(kinds, ", "))};
  Section& tables = document.section("Results");
  for (const Notice& notice : warning_notices(results)) tables.add(notice);
  for (const std::string& kind : kinds) tables.add(kind_table(kind, results));
  Section& origin = document.section("Where they come from");
  if (!results.empty()) origin.add(machine_facts(results.front().origin));
  if (!commands.empty()) origin.add(Code{.text = fmt::format("{}", fmt::join(commands, "\n")), .title = "Commands"});
  return document;
}

}  // namespace lockstep::report
