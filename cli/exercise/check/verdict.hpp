#pragma once
// What a check found out: the one record that the terminal, the work log, exports and tests read.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lockstep/core/names.hpp"

namespace lockstep::cli {

enum class Tier {
  right,          // the bits of the contract, in every case
  another_order,  // right within rounding
  wrong,
  crashed,     // outside of its arrays, a sanitizer's finding, no return
  rejected,    // right only by a trick
  suspicious,  // faster than the machine allows
  not_built
};

inline Described describe(Tier tier) {
  switch (tier) {
    case Tier::right:
      return {"right"};
    case Tier::another_order:
      return {"another order"};
    case Tier::wrong:
      return {"wrong"};
    case Tier::crashed:
      return {"crashed"};
    case Tier::rejected:
      return {"rejected"};
    case Tier::suspicious:
      return {"suspicious"};
    case Tier::not_built:
      return {"not built"};
  }
  return {};
}

/// A time of one kernel, beside others.
struct SpeedRow {
  std::string name{};  // "yours", "naive", "simd"
  int threads = 1;
  double seconds = 0;  // median
  double low = 0, high = 0;
  int samples = 0;
};

struct SpeedFindings {
  std::vector<SpeedRow> rows{};      // yours, naive, simd on one thread, or on all for tracks with threads
  std::vector<SpeedRow> scaling{};   // yours on 1, 2, 4, 8 threads
  double of_naive = 0, of_simd = 0;  // how many times as fast
  double of_roof = 0;                // share of what the machine allows
  std::string roof{};                // "memory" or "arithmetic"
  std::string limit{};               // what limits it, in words
  std::string next{};                // what to try
};

struct Verdict {
  Tier tier = Tier::right;
  std::string cause{};               // a word: "descending"; empty where none was found
  std::vector<std::string> words{};  // for the student, one sentence each
  std::string first_wrong{};         // "y[0, 3] is 1.5, expected 2 (in 5, out 3, samples 1)"
  int cases = 0, right_cases = 0;
  double largest_ulp = 0;             // of results that are right within rounding
  std::vector<std::string> checks{};  // what was done: "address sanitizer: nothing found"
  std::optional<SpeedFindings> speed{};
  std::uint64_t secret_seed = 0;
  double seconds = 0;  // of the whole check
  std::string source_hash{}, exercise{}, track{};

  bool right() const { return tier == Tier::right; }
};

}  // namespace lockstep::cli
