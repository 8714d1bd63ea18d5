#pragma once
// The cases of a check, and what a kernel did in each of them.

#include <functional>
#include <vector>

#include "cli/exercise/check/session.hpp"

namespace lockstep::cli {

struct CaseSpec {
  CaseShape shape{};
  std::uint64_t seed = 1;
  bool secret = false;  // its shape or seed is not known before
};

/// One call: what was asked, what should have come out and what did.
struct Observation {
  CaseSpec spec{};
  CaseArguments given, expected, got;
  bool right = true;
  bool second = false;  // the second call with the same arguments
};

/// What a sweep of cases saw; the first process that ended ends it.
struct Observations {
  std::vector<Observation> calls{};
  CallOutcome outcome{};                 // of the last call
  std::optional<Observation> died_at{};  // where the process ended
  int cases = 0, right_cases = 0;
  bool any_wrong() const { return right_cases < cases; }
};

/// Public seeds and secret ones over the shapes of the exercise, and secret shapes.
std::vector<CaseSpec> make_cases(const Exercise& exercise, std::uint64_t secret_seed, bool small);

/// Each case twice: with arrays that end at guard pages, then with arrays that begin at them.
Observations run_cases(const Exercise& exercise, const std::vector<CaseSpec>& cases, RunnerSession& session);

/// One call in a process; the arguments as they were, and with the results.
Observation observe(const Exercise& exercise, const CaseSpec& spec);

}  // namespace lockstep::cli
