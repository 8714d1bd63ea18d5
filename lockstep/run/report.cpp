#include "lockstep/run/report.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "build_commit.inc"
#include "lockstep/core/file.hpp"
#include "lockstep/core/shell_words.hpp"
#include "lockstep/core/system.hpp"
#include "lockstep/core/version.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/lab/record.hpp"
#include "lockstep/lab/report/results_page.hpp"
#include "lockstep/lab/report/write.hpp"
#include "lockstep/model/model_file.hpp"
#include "lockstep/run/build_commit.hpp"
#include "lockstep/run/directory.hpp"
#include "lockstep/run/lines.hpp"
#include "lockstep/run/pages/answers.hpp"

namespace lockstep {

std::string build_commit() { return kBuildCommit; }

namespace fs = std::filesystem;

namespace {

/// The record in machine.json; nothing without the file.
std::optional<Result> read_origin(const fs::path& path) {
  if (!fs::exists(path)) return std::nullopt;
  std::string text = read_text(path, kMostShownBytes);
  while (text.ends_with('\n')) text.pop_back();
  return result_from_json(text, path.string());
}

/// Kind "machine", "training".
struct TrainingRecord {
  std::string backend{}, host{};
  std::optional<int> ranks{}, threads{};
  static constexpr auto fields() {
    using R = TrainingRecord;
    return std::make_tuple(defaulted("backend", &R::backend), defaulted("host", &R::host), field("ranks", &R::ranks),
                           field("threads", &R::threads));
  }
};

/// When, where and by what command.
report::Facts run_facts(const Line<TrainingRecord>& record) {
  report::Facts facts{.title = "This run"};
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) facts.facts.push_back({name, value});
  };
  add("Begun", record.origin.time);
  add("Host", record.host);
  add("Backend", record.backend);
  if (record.ranks) add("Ranks", std::to_string(*record.ranks));
  if (record.threads) add("Threads of a rank", std::to_string(*record.threads));
  add("Commit", record.origin.commit);
  add("Command", record.origin.command);
  return facts;
}

/// "2026-11-18T08:25:01Z on host: simd, 1 rank of 2 threads, commit 0123456789ab"
std::string origin_line(const Line<TrainingRecord>& record) {
  std::string out = record.origin.time;
  if (!record.host.empty()) out += fmt::format(" on {}", record.host);
  if (!record.backend.empty()) out += fmt::format(": {}", record.backend);
  if (record.ranks) out += fmt::format(", {}", count_of(*record.ranks, "rank"));
  if (record.threads) out += fmt::format(" of {}", count_of(*record.threads, "thread"));
  if (!record.origin.commit.empty()) out += fmt::format(", commit {}", record.origin.commit.substr(0, 12));
  return out;
}

void add_machine(report::Section& section, const std::optional<Result>& record) {
  if (!record) {
    section.add(report::Paragraph{"The machine was not recorded."});
    return;
  }
  report::Facts facts = report::machine_facts(record->origin);
  facts.title.clear();  // the section says it
  section.add(run_facts(Line<TrainingRecord>(*record))).add(std::move(facts));
}

}  // namespace

report::Document run_document(const fs::path& directory) {
  const RunHistory history = read_history(directory);
  std::optional<Model> model;
  if (fs::exists(directory / kModelFile)) model.emplace(load_model((directory / kModelFile).string()));
  const std::optional<RunAnswers> answers = read_answers(directory / kAnswersFile);
  const std::optional<Result> origin = read_origin(directory / kMachineFile);
  report::Document document = history_document({.history = history,
                                                .model = model ? &*model : nullptr,
                                                .answers = answers ? &*answers : nullptr,
                                                .profile = read_profile(directory / kProfileFile),
                                                .origin = origin ? origin_line(Line<TrainingRecord>(*origin)) : ""});
  report::Section& repeat = document.section("To repeat it");
  repeat.add(
      report::Paragraph{"The configuration with every value that was chosen for it. Training it again gives the "
                        "same weights, on any number of threads and ranks."});
  repeat.add(
      report::Code{.text = fmt::format("lockstep train {}\nlockstep report {}",
                                       shell_word((directory / kConfigFile).string()), shell_word(directory.string())),
                   .title = "Commands"});
  if (fs::exists(directory / kConfigFile))
    repeat.add(report::Code{
        .text = read_text(directory / kConfigFile, kMostShownBytes), .title = kConfigFile, .folded = true});
  add_machine(document.section("Run and machine"), origin);
  document.footer = fmt::format("Made by Lockstep {} from the files of the run.", version());
  return document;
}

Result origin_record(const RunOrigin& run) {
  std::vector<std::string> hosts = run.hosts;
  if (hosts.empty()) hosts.push_back(host_name());
  std::sort(hosts.begin(), hosts.end());
  hosts.erase(std::unique(hosts.begin(), hosts.end()), hosts.end());
  TrainingRecord record{.backend = run.backend, .host = fmt::format("{}", fmt::join(hosts, ", ")), .ranks = run.ranks};
  if (run.threads > 0) record.threads = run.threads;
  Result line = line_of("machine", "training", record);
  line.origin = recorded_here();
  line.origin.commit = build_commit();
  line.origin.command = run.command;
  return line;
}

void write_run_report(const fs::path& directory, const Result& origin, RunObserver& observer) noexcept {
  try {
    write_file_atomically(directory / kMachineFile, to_json_line(origin) + '\n');
    report::write_report(run_document(directory), directory, {.json = false});
  } catch (const std::exception& error) {
    try {
      observer.note(fmt::format("warning: the report was not written: {}", one_line(error.what())));
    } catch (...) {
      // The observer fails too; the training is done and saved.
    }
  }
}

}  // namespace lockstep
