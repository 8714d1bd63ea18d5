#pragma once
// mnist-mlp: handwritten digits with three layers of sigmoids, and the two exercises that come with it.

#include "cli/bench/primitives.hpp"
#include "cli/reproduce/experiment.hpp"
#include "cli/reproduce/rungs.hpp"

namespace lockstep::cli {

Experiment mnist_mlp();

/// Series "accuracy by epoch".
struct MnistCurve {
  double test_accuracy = 0;
  std::vector<double> validation_accuracy{}, epoch_seconds{};
  static constexpr auto fields() {
    using R = MnistCurve;
    return std::make_tuple(field("test_accuracy", &R::test_accuracy),
                           field("validation_accuracy", &R::validation_accuracy),
                           field("epoch_seconds", &R::epoch_seconds));
  }
};
/// Series of the exercises; variants of Python and plain loops have no backend.
struct ExerciseRecord {
  KernelRecord kernel{};
  std::string variant{}, result{}, limit{};
  PrimitiveKind sort = PrimitiveKind::trivial;
  std::optional<int> processors{};
  std::optional<std::int64_t> blocks{};  // of a device
  double calls_per_sample = 1, part = 1, flops = 0, bytes = 0;
  static constexpr auto fields() {
    using R = ExerciseRecord;
    return std::make_tuple(lockstep::part(&R::kernel), field("variant", &R::variant), field("result", &R::result),
                           field("limit", &R::limit), field("kind", &R::sort), field("processors", &R::processors),
                           field("blocks", &R::blocks), defaulted("calls_per_sample", &R::calls_per_sample),
                           defaulted("part", &R::part), defaulted("flops", &R::flops), defaulted("bytes", &R::bytes));
  }
};
using ExerciseLine = Line<ExerciseRecord>;

// Names of series.
inline constexpr const char *kMnistCurves = "accuracy by epoch", *kMnistTimes = "epoch of 5,000 digits";
/// "max 1000x1000" and so on: an exercise has a series of its own.
inline constexpr const char* kExercises[] = {"max 1000x1000", "xxt 784x128", "xxt 1000x1000"};

/// max and X X^T on 1, 2, 4 and 8 threads.
void measure_exercises(const ExperimentRun& run);

/// The first result of the kind; null: none.
const ExerciseLine* first_of_kind(const std::vector<ExerciseLine>& results, PrimitiveKind kind);
/// The one with the shortest time.
const ExerciseLine& fastest_of(const std::vector<ExerciseLine>& results);
/// The smallest of its samples, as the exercises count; Error(data) where it has none.
double best_of(const Result& result);

std::vector<Claim> mnist_claims();
void describe_mnist(const Findings& findings, report::Document& document);
void describe_exercises(const Findings& findings, report::Document& document);

}  // namespace lockstep::cli
