#pragma once
// Why a kernel is wrong. Explanations are tried one after the other: each computes what a mistake would give, and is
// the cause only where that equals what the kernel gave, by ==, in every case.

#include <functional>
#include <memory>

#include "cli/exercise/check/cases.hpp"
#include "cli/exercise/check/verdict.hpp"
#include "cli/exercise/track.hpp"

namespace lockstep::cli {

/// Starts another process with the kernel, on that many threads (0: as in the check).
using StartSession = std::function<std::unique_ptr<RunnerSession>(int threads)>;

/// Fills tier, cause, words and first_wrong of the verdict. Some call was wrong, or the process died.
void diagnose(const Exercise& exercise, const Track& track, const Observations& seen, const StartSession& start,
              Verdict& verdict);

}  // namespace lockstep::cli
