#pragma once
// The parts of cuda-quadrants, and what they hand to each other.

#include <array>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/reproduce/experiment.hpp"
#include "cli/reproduce/quadrants_data.hpp"
#include "lockstep/kernels/backend.hpp"
#include "lockstep/train/trainer.hpp"

namespace lockstep::cli {

/// Of the time (or of the instructions) of a training, by the sections that the published profile names, and what else
/// there is; they add up to 1.
using SectionShares = std::map<std::string, double>;

// Names of results; the last two are series.
inline constexpr const char* kQuadrantCurve = "test loss by epoch";
inline constexpr const char* kQuadrantShares = "shares";
inline constexpr const char* kQuadrantTimes = "epoch";

/// Where the time goes, by spans and by callgrind.
void profile_quadrants(const ExperimentRun& run, const QuadrantData& data);

/// Instructions by section, counted by callgrind in a run of this program; nothing, with a word why, where it cannot
/// be.
std::optional<SectionShares> callgrind_shares(const ExperimentRun& run);

/// The same from what callgrind_annotate --inclusive=yes printed; nothing where it does not name our functions.
std::optional<SectionShares> parse_callgrind(const std::string& text);

/// The same epoch by every kind of kernel, the unoptimised and the optimised plain loops first, then SIMD.
void time_quadrants(const ExperimentRun& run, const QuadrantData& data);

/// Of these, the first five are what the published program calls parallel. Its sigmoid is a layer; ours is one section
/// with the loss. Its step of the weights belongs to the backward pass of the linear layers, as here.
inline constexpr std::array<const char*, 8> kQuadrantSections = {
    "linear backward",  "linear forward", "relu backward", "relu forward",
    "sigmoid and loss", "load",           "reduce",        "other"};
inline constexpr auto kParallelSections = std::span(kQuadrantSections).first<5>();
/// The sum of those.
double parallel_share(const Result& shares);

std::vector<Claim> quadrant_claims();
void describe_quadrants(const Findings& findings, report::Document& document);

/// 1 / ((1 - p) + p / n): the largest speed-up on n cores where the share p of the time runs in parallel.
constexpr double amdahl_bound(double parallel_share, double cores) {
  return 1 / ((1 - parallel_share) + parallel_share / cores);
}

}  // namespace lockstep::cli
