#include "cli/exercise/check/cases.hpp"

#include <algorithm>

namespace lockstep::cli {

std::vector<CaseSpec> make_cases(const Exercise& exercise, std::uint64_t secret_seed, bool small) {
  std::vector<CaseSpec> cases;
  const auto elements = [](const CaseShape& shape) {
    double product = 1;
    for (const std::int64_t size : shape) product *= double(std::max<std::int64_t>(size, 1));
    return product;
  };
  for (const CaseShape& shape : exercise.shapes) {
    if (small && elements(shape) > 20000) continue;
    cases.push_back({.shape = shape, .seed = 1});
    if (!small) cases.push_back({.shape = shape, .seed = 2});
    cases.push_back({.shape = shape, .seed = secret_seed + cases.size(), .secret = true});
  }
  if (small) return cases;
  // Shapes that nobody knows before: between and beside the public ones.
  CaseRandom random(secret_seed ^ 0x5EC4E7);
  for (int i = 0; i < 8; ++i) {
    const CaseShape& like =
        exercise.shapes[static_cast<std::size_t>(random.below(std::int64_t(exercise.shapes.size())))];
    CaseShape shape = like;
    for (std::int64_t& size : shape) size = std::max<std::int64_t>(1, size + random.below(7) - 3);
    if (exercise.legal && !exercise.legal(shape)) continue;
    cases.push_back({.shape = shape, .seed = secret_seed + 1000 + static_cast<std::uint64_t>(i), .secret = true});
  }
  return cases;
}

Observation observe(const Exercise& exercise, const CaseSpec& spec) {
  const CaseArguments given(exercise, spec.shape, spec.seed);
  Observation seen{.spec = spec, .given = given, .expected = given, .got = given};
  exercise.oracle(seen.expected.get());
  return seen;
}

Observations run_cases(const Exercise& exercise, const std::vector<CaseSpec>& cases, RunnerSession& session) {
  Observations all;
  for (const CaseSpec& spec : cases) {
    ++all.cases;
    bool right = true;
    for (const bool second : {false, true}) {
      Observation seen = observe(exercise, spec);
      seen.second = second;
      all.outcome = session.place(seen.given, !second);
      if (all.outcome.ok()) all.outcome = session.call(seen.got);
      seen.right = all.outcome.ok() && all.outcome.changed.empty() && same_results(seen.expected, seen.got);
      right = right && seen.right;
      if (!all.outcome.ok() || !all.outcome.changed.empty()) {
        all.died_at.emplace(std::move(seen));
        return all;
      }
      all.calls.push_back(std::move(seen));
    }
    if (right) ++all.right_cases;
  }
  return all;
}

}  // namespace lockstep::cli
