#pragma once
// A published experiment that this program can repeat, in two halves: `measure` runs it and keeps results, `describe`
// makes the report from the results alone, so that it can be made again without measuring.
//
// To add one: a folder with experiment.hpp (the fields of its results), experiment.cpp (measure), published.hpp (the
// published figures), claims.cpp, report.cpp (describe), and a line in registry.cpp. A case for every claim in
// tests/cli/reproduce_claims_test.py contradicts it.

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "cli/output/console.hpp"
#include "cli/reproduce/claim.hpp"
#include "lockstep/lab/report/document.hpp"
#include "lockstep/lab/results.hpp"

namespace lockstep::cli {

/// The line "run": which experiment this is, and how it was run.
struct RunRecord {
  bool quick = false;
  std::string experiment{};
  static constexpr auto fields() {
    return std::make_tuple(defaulted("quick", &RunRecord::quick), field("experiment", &RunRecord::experiment));
  }
};
/// The line "done", the last one: nothing was cut short.
struct DoneRecord {
  double seconds = 0;
  static constexpr auto fields() { return std::make_tuple(field("seconds", &DoneRecord::seconds)); }
};
/// Lines "left out: ...".
struct LeftOutPart {
  std::string why{};
  static constexpr auto fields() { return std::make_tuple(field("why", &LeftOutPart::why)); }
};

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
  template <HasFields Record>
  void record(const std::string& name, const Record& record) const {
    keep(line_of("experiment", name, record));
  }

  /// A part of the experiment that this machine cannot do, and how it could. The report lists them at its end.
  void left_out(const std::string& what, const std::string& why) const {
    progress("left out: " + what + ": " + why);
    record(kLeftOut + (": " + what), LeftOutPart{why});
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
