#pragma once
// The report of a training run: report.html in its folder.

#include <filesystem>

#include "lockstep/lab/report/document.hpp"
#include "lockstep/lab/results.hpp"
#include "lockstep/run/observer.hpp"
#include "lockstep/run/pages/sections.hpp"

namespace lockstep {

struct Model;
struct RunAnswers;
struct RunHistory;

/// What the pages of a run are made from; null: the run has none.
struct RunParts {
  const RunHistory& history;
  const Model* model = nullptr;
  const RunAnswers* answers = nullptr;
  std::vector<ProfiledLayer> profile{};
  std::string origin{};  // when and where, in a line
};
/// The pages of a run: summary, curves, epochs, answers, network, time and layers.
report::Document history_document(const RunParts& parts);

/// From the files of the run alone: config.toml, metrics.jsonl, timings.jsonl, machine.json, model.safetensors,
/// answers.json, profile.json; all but the first two may be missing. Error(data), with file and line, for a damaged
/// file.
report::Document run_document(const std::filesystem::path& directory);

/// How a training was run, for machine.json: the machine, the commit, the command, the time of its beginning, the
/// hosts, the backend and the numbers of ranks and threads.
struct RunOrigin {
  std::string command{};
  std::string backend{};
  int threads = 1, ranks = 1;
  std::vector<std::string> hosts{};  // of the ranks; empty: this one
};
Result origin_record(const RunOrigin& origin);

/// Writes machine.json and report.html. A report that cannot be written is a note, not a failure of the training.
void write_run_report(const std::filesystem::path& directory, const Result& origin, RunObserver& observer) noexcept;

}  // namespace lockstep
