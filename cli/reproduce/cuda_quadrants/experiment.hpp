#pragma once
// cuda-quadrants: the records of its results, and its parts.

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "cli/reproduce/experiment.hpp"
#include "cli/reproduce/quadrants_data.hpp"
#include "lockstep/train/trainer.hpp"

namespace lockstep::cli {

Experiment cuda_quadrants();

/// Series "shares": shares of the time (or of the instructions) of a training, by the sections that the published
/// profile names, and the rest; they add up to 1. The sigmoid of the published program is a layer; here it is one
/// section with the loss. The step of the weights belongs to the backward pass of the linear layers, as published.
struct SectionShares {
  std::optional<double> linear_backward{}, linear_forward{}, relu_backward{}, relu_forward{}, sigmoid_and_loss{};
  std::optional<double> load{}, reduce{}, other{};

  static constexpr auto fields() {
    using R = SectionShares;
    return std::array{field("linear backward", &R::linear_backward),
                      field("linear forward", &R::linear_forward),
                      field("relu backward", &R::relu_backward),
                      field("relu forward", &R::relu_forward),
                      field("sigmoid and loss", &R::sigmoid_and_loss),
                      field("load", &R::load),
                      field("reduce", &R::reduce),
                      field("other", &R::other)};
  }
  /// The sum of the first five, which the published program calls parallel.
  double parallel() const {
    return linear_backward.value_or(0) + linear_forward.value_or(0) + relu_backward.value_or(0) +
           relu_forward.value_or(0) + sigmoid_and_loss.value_or(0);
  }
};
/// Where a section counts.
using SectionMember = std::optional<double> SectionShares::*;

/// The line "test loss by epoch".
struct QuadrantCurve {
  std::int64_t exact_zeros = 0;
  std::vector<double> loss{}, accuracy{};
  static constexpr auto fields() {
    using R = QuadrantCurve;
    return std::make_tuple(defaulted("exact_zeros", &R::exact_zeros), field("loss", &R::loss),
                           field("accuracy", &R::accuracy));
  }
};

// Names of results; the last two are series, the last one of KernelRecord.
inline constexpr const char *kQuadrantCurve = "test loss by epoch", *kQuadrantShares = "shares",
                            *kQuadrantTimes = "epoch";

/// Where the time goes, by spans and by callgrind.
void profile_quadrants(const ExperimentRun& run, const QuadrantData& data);

/// Instructions by section, from what callgrind_annotate --inclusive=yes printed; nothing where it does not name our
/// functions.
std::optional<SectionShares> parse_callgrind(const std::string& text);

std::vector<Claim> quadrant_claims();
void describe_quadrants(const Findings& findings, report::Document& document);

/// 1 / ((1 - p) + p / n): the largest speed-up on n cores where the share p of the time runs in parallel.
constexpr double amdahl_bound(double parallel_share, double cores) {
  return 1 / ((1 - parallel_share) + parallel_share / cores);
}

}  // namespace lockstep::cli
