#pragma once
// What an experiment has measured: the lines of its results.jsonl, found by their names; and what a paper claims, or
// what this program claims of itself, and whether the figures of this run bear it out. No sentence about the outcome is
// written beforehand: `judge` reads the figures, the verdict follows from them by its predicate, and the page shows the
// verdict's own word before a sentence that only states the figures.

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lockstep/lab/record.hpp"
#include "lockstep/lab/report/document.hpp"

namespace lockstep::cli {

class Findings {
 public:
  explicit Findings(std::vector<Result> results) : results_(std::move(results)) {}

  const std::vector<Result>& all() const { return results_; }
  /// Null where there is none: that part was left out.
  const Result* find(std::string_view name) const;
  /// Error(data) where there is none.
  const Result& get(std::string_view name) const;
  /// Nothing where there is none.
  template <HasFields Record>
  std::optional<Line<Record>> find_line(std::string_view name) const {
    const Result* const found = find(name);
    return found == nullptr ? std::nullopt : std::optional(Line<Record>(*found));
  }
  /// Those whose names begin with "prefix: ", in the order in which they were measured.
  template <HasFields Record>
  std::vector<Line<Record>> series(std::string_view prefix) const {
    std::vector<Line<Record>> found;
    for (const Result& each : results_)
      if (is_in_series(each, prefix)) found.emplace_back(each);
    return found;
  }

 private:
  static bool is_in_series(const Result& result, std::string_view prefix);

  std::vector<Result> results_;
};

/// The first line for which the test is true; null: none.
template <class Lines, class Test>
const typename Lines::value_type* first_where(const Lines& lines, const Test& test) {
  const auto found = std::find_if(lines.begin(), lines.end(), test);
  return found == lines.end() ? nullptr : &*found;
}

/// The name behind "series: ".
std::string short_name(const Result& result);
/// The median of its samples; Error(data) where it has none.
double median_of(const Result& result);

enum class ClaimVerdict { holds, in_part, fails, not_shown };

struct Judgement {
  ClaimVerdict verdict = ClaimVerdict::not_shown;
  std::string here{};       // our number; empty: there is none
  std::string facts{};      // the figures as a sentence that is true whatever the verdict
  std::string published{};  // instead of the claim's: what was published for as many threads as this machine has

  /// "holds", "holds in part", "does not hold", "not shown here"; "cannot be tested here" where there is no number of
  /// ours.
  std::string_view word() const;
};

struct Claim {
  std::string id;           // "threads-pay"; unique in its experiment
  std::string text;         // one sentence
  std::string published{};  // the number behind it; empty: the paper has none
  std::string label{};      // what both numbers are: "2 threads against one"; empty: Lockstep claims it, not the paper
  std::function<Judgement(const Findings&)> judge;
};

/// "0.814", "41.3", "5300": a ratio in a sentence.
std::string ratio_text(double ratio);

/// Two sets of timings: how many times as fast the second is.
struct Comparison {
  double ratio = 0;          // of the medians
  double low = 0, high = 0;  // from their intervals; from the ends of the samples where they are fewer than 6
  bool enough = false;       // three samples or more of both
  bool faster() const { return enough && low > 1; }
  bool slower() const { return enough && high < 1; }
  /// Of the claim that the second is faster.
  ClaimVerdict verdict() const {
    return faster() ? ClaimVerdict::holds : slower() ? ClaimVerdict::fails : ClaimVerdict::not_shown;
  }
  /// Of the claim that the second is slower.
  ClaimVerdict opposite() const {
    return slower() ? ClaimVerdict::holds : faster() ? ClaimVerdict::fails : ClaimVerdict::not_shown;
  }
  /// "1.59 times as fast (between 1.52 and 1.66)"
  std::string words() const;
};

/// Nothing where one of them is missing.
std::optional<Comparison> compare(const Result* before, const Result* after);

/// A claim of a speed-up. Holds: clearly faster, by at least nine tenths of `claimed`. In part: clearly faster, by
/// less. Does not hold: clearly slower, or so near to 1 that not even the upper end reaches nine tenths of `claimed`.
/// Else it is not shown. The facts are "{subject} {words}".
Judgement judge_speed_up(double claimed, const std::optional<Comparison>& comparison, const std::string& subject);

/// A number that must be within `near` of the claimed one to hold, within `far` to hold in part.
ClaimVerdict judge_distance(double distance, double near, double far);

/// All of them have the weights of the first, which has that name: a claim of Lockstep's own.
Judgement judge_same_hashes(const std::vector<std::string>& hashes, const std::string& first);
template <class Lines>
Judgement judge_same_weights(const Lines& lines) {
  std::vector<std::string> hashes;
  for (const Result& each : lines) hashes.push_back(each.weight_hash);
  return judge_same_hashes(hashes, lines.empty() ? "" : short_name(lines.front()));
}

/// A claim about several figures at once: holds where all do, in part where some do; what is not shown does not count.
ClaimVerdict judge_together(const std::vector<ClaimVerdict>& verdicts);
/// The same with the numbers and facts of all; `none`: the facts where there is no part.
Judgement judge_together(const std::vector<Judgement>& parts, const std::string& none);

/// The beginning of a page: the first claim, its verdict and the two numbers behind it; then all claims.
void add_claims(const std::vector<Claim>& claims, const Findings& findings, report::Document& document);

}  // namespace lockstep::cli
