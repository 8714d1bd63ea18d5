#pragma once
// A published experiment that this program can repeat, in two halves: `measure` runs it and keeps results, `describe`
// makes the report from the results alone, so that it can be made again without measuring.
//
// To add one: <name>.cpp with both halves, <name>_published.hpp with the published figures, <name>_claims.cpp with what
// is claimed, and a line in registry.cpp. A case for every claim in tests/cli/reproduce_claims_test.py contradicts it.

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cli/output/console.hpp"
#include "cli/reproduce/claim.hpp"
#include "cli/reproduce/findings.hpp"
#include "lockstep/lab/report/document.hpp"
#include "lockstep/lab/results.hpp"

namespace lockstep::cli {

/// What `measure` is given, and where its results go.
struct ExperimentRun {
  bool quick = false;            // about a minute instead of about ten: fewer repetitions, the same figures
  std::string data{};            // --data: a file that the experiment needs and cannot make; empty: none was given
  std::filesystem::path folder;  // its run directory, for the files of the programs it starts
  Console& console;
  std::function<void(Result)> keep;  // fills in the origin and adds a line to results.jsonl

  /// Says on stderr what is done now.
  void progress(const std::string& what) const { console.note("  " + what); }

  /// A result that is no set of samples (those: timing.hpp); kind "experiment".
  void record(const std::string& name, std::map<std::string, double> numbers,
              std::map<std::string, std::string> words = {},
              std::map<std::string, std::vector<double>> series = {}) const {
    Result result{.kind = "experiment", .name = name};
    result.numbers = std::move(numbers);
    result.words = std::move(words);
    result.series = std::move(series);
    keep(std::move(result));
  }

  /// A part of the experiment that this machine cannot do, and how it could. The report lists them at its end.
  void left_out(const std::string& what, const std::string& why) const {
    progress("left out: " + what + ": " + why);
    record(kLeftOut + (": " + what), {}, {{"why", why}});
  }
  static constexpr const char* kLeftOut = "left out";
};

struct Experiment {
  std::string name;    // "mpi-digits"
  std::string title;   // a line: what is shown
  std::string paper;   // authors, title, where, when
  std::string time;    // how long it takes on two cores, and with --quick
  std::string config;  // the set-up: TOML, written into the run directory as config.toml
  std::string data{};  // what --data names; empty: it is refused
  std::function<void(const ExperimentRun&)> measure;
  std::vector<Claim> claims;  // the first one stands at the head of the page
  /// Adds sections, words first. What every report has (left out, machine, how to repeat) is added after them.
  std::function<void(const Findings&, report::Document&)> describe;
};

/// All that there are, in the order in which they are listed.
const std::vector<Experiment>& experiments();

}  // namespace lockstep::cli
