#pragma once
// What an experiment has measured: the lines of its results.jsonl, found by their names.

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lockstep/lab/record.hpp"

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

}  // namespace lockstep::cli
