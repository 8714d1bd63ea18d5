#pragma once
// mpi-digits: the records of its results, and its parts.

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "cli/reproduce/experiment.hpp"
#include "cli/reproduce/rungs.hpp"

namespace lockstep::cli {

Experiment mpi_digits();

/// Where 5000 samples of 400 numbers come from.
struct DigitSource {
  std::string name;    // "digits", "fashion"
  std::string config;  // TOML: 400-25-10, 60 iterations at rate 0.1
};

/// Seconds of an iteration by phase.
struct DigitPhases {
  std::optional<double> broadcast{}, scatter{}, load{}, hidden{}, output{}, cost{}, back{}, gather{}, wait{}, other{};
  static constexpr auto fields() {
    using R = DigitPhases;
    return std::array{field("broadcast", &R::broadcast), field("scatter", &R::scatter), field("load", &R::load),
                      field("hidden", &R::hidden),       field("output", &R::output),   field("cost", &R::cost),
                      field("back", &R::back),           field("gather", &R::gather),   field("wait", &R::wait),
                      field("other", &R::other)};
  }
};
using PhaseMember = std::optional<double> DigitPhases::*;

/// Series "iteration": a mode of training.
struct ModeRecord {
  KernelRecord kernel{};
  int ranks = 1;
  std::string from{};  // "rank0": that rank alone reads the data
  DigitPhases phases{};
  static constexpr auto fields() {
    using R = ModeRecord;
    return std::make_tuple(part(&R::kernel), defaulted("ranks", &R::ranks), defaulted("from", &R::from),
                           part(&R::phases));
  }
};
/// Series "iteration", "Python loops": the same recipe in another program. It can be read as a mode.
struct PythonRecord {
  int iterations = 0;
  double cost_difference = 0;  // the largest
  DigitPhases phases{};
  std::string version{};
  static constexpr auto fields() {
    using R = PythonRecord;
    return std::make_tuple(field("iterations", &R::iterations), field("cost_difference", &R::cost_difference),
                           part(&R::phases), field("version", &R::version));
  }
};
/// Series "training": 60 iterations at rate 0.1.
struct TrainingRecord {
  std::string data{};    // "digits", "fashion"
  double precision = 0;  // after the last iteration
  std::vector<double> cost{}, precisions{};
  static constexpr auto fields() {
    using R = TrainingRecord;
    return std::make_tuple(field("data", &R::data), field("precision", &R::precision), field("cost", &R::cost),
                           field("precision", &R::precisions));
  }
};
/// Series "fast": 300 iterations at rate 2.0.
struct FastRecord {
  double rate = 0;
  std::string weights{};  // their hash
  std::vector<double> iterations{}, precision{};
  static constexpr auto fields() {
    using R = FastRecord;
    return std::make_tuple(defaulted("rate", &R::rate), defaulted("weights", &R::weights),
                           field("iterations", &R::iterations), field("precision", &R::precision));
  }
};
using ModeLine = Line<ModeRecord>;
using TrainingLine = Line<TrainingRecord>;

inline constexpr const char *kDigitTraining = "training", *kDigitFast = "fast", *kDigitModes = "iteration",
                            *kPythonMode = "Python loops", *kSequentialMode = "sequential, SIMD";

/// Sequential, threads, ranks, device: one iteration, phase by phase.
void time_digit_modes(const ExperimentRun& run, const DigitSource& source);

/// The same recipe with per-sample loops in Python, a few iterations.
void time_python_loops(const ExperimentRun& run, const DigitSource& source);

std::vector<Claim> digit_claims();
void describe_digits(const Findings& findings, report::Document& document);
void describe_digit_training(const Findings& findings, report::Document& document);

}  // namespace lockstep::cli
