#pragma once
// mnist-mlp: handwritten digits with three layers of sigmoids, and the two exercises that come with it.

#include "cli/reproduce/experiment.hpp"

namespace lockstep::cli {

Experiment mnist_mlp();

// Names of results.
inline constexpr const char* kMnistCurves = "accuracy by epoch";
inline constexpr const char* kMnistTimes = "epoch of 5,000 digits";
/// "max 1000x1000" and so on: an exercise has a series of its own.
inline constexpr const char* kExercises[] = {"max 1000x1000", "xxt 784x128", "xxt 1000x1000"};

/// max and X X^T on 1, 2, 4 and 8 threads.
void measure_exercises(const ExperimentRun& run);

/// The first result of the kind ("python", "trivial", ...); null: none.
const Result* first_of_kind(const std::vector<const Result*>& results, const std::string& kind);
/// The smallest of its samples, as the exercises count; Error(data) where it has none.
double best_of(const Result& result);

std::vector<Claim> mnist_claims();
void describe_mnist(const Findings& findings, report::Document& document);
void describe_exercises(const Findings& findings, report::Document& document);

}  // namespace lockstep::cli
