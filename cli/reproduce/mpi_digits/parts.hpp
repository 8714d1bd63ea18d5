#pragma once
// The parts of mpi-digits, and what they hand to each other.

#include <string>
#include <vector>

#include "cli/reproduce/experiment.hpp"

namespace lockstep::cli {

/// Where 5000 samples of 400 numbers come from.
struct DigitSource {
  std::string name;    // "digits", "fashion"
  std::string config;  // TOML: 400-25-10, 60 iterations at rate 0.1
};

// Series of results: trainings "digits, seed 1"; precision at the fast rate "digits"; seconds per iteration by mode.
inline constexpr const char* kDigitTraining = "training";
inline constexpr const char* kDigitFast = "fast";
inline constexpr const char* kDigitModes = "iteration";
inline constexpr const char* kPythonMode = "Python loops";
inline constexpr const char* kSequentialMode = "sequential, SIMD";

/// Sequential, threads, ranks, device: one iteration, phase by phase. Numbers of the results are seconds per iteration:
/// scatter, load, hidden, output, cost, back, gather, broadcast, wait.
void time_digit_modes(const ExperimentRun& run, const DigitSource& source);

/// The same recipe with per-sample loops in Python, a few iterations.
void time_python_loops(const ExperimentRun& run, const DigitSource& source);

std::vector<Claim> digit_claims();
void describe_digits(const Findings& findings, report::Document& document);

}  // namespace lockstep::cli
