#pragma once
// How fast a right kernel is. The clock is the checker's; every timed call gets fresh inputs, and all its outputs are
// compared.

#include "cli/exercise/check/diagnose.hpp"

namespace lockstep::cli {

struct SpeedOptions {
  double seconds = 3;  // to spend, about
  std::uint64_t seed = 1;
  std::vector<int> threads{1, 2, 4, 8};  // of the scaling of tracks with threads
};

/// Sets verdict.speed; or tier, cause and words where a timed call was wrong or too fast to be true.
void measure_speed(const Exercise& exercise, const Track& track, const StartSession& start, const SpeedOptions& options,
                   Verdict& verdict);

/// What limits a kernel with these shares, and what to try: words.
struct LimitWords {
  std::string limit{}, next{};
};
LimitWords limit_words(const Track& track, double of_roof, double of_simd, const std::string& roof, double efficiency);

}  // namespace lockstep::cli
