#pragma once
// What an experiment has measured: the lines of its results.jsonl, found by their names.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lockstep/lab/results.hpp"

namespace lockstep::cli {

class Findings {
 public:
  explicit Findings(std::vector<Result> results) : results_(std::move(results)) {}

  const std::vector<Result>& all() const { return results_; }
  /// Null where there is none: that part was left out.
  const Result* find(std::string_view name) const;
  /// Error(data) where there is none.
  const Result& get(std::string_view name) const;
  /// Those whose names begin with "prefix: ", in the order in which they were measured.
  std::vector<const Result*> series(std::string_view prefix) const;

 private:
  std::vector<Result> results_;
};

/// The name behind "series: ".
std::string short_name(const Result& result);
/// The median of its samples; Error(data) where it has none.
double median_of(const Result& result);
/// Its series of that name, of at least so many numbers; else Error(data): a file of results may come from anywhere.
const std::vector<double>& values_of(const Result& result, const std::string& series, std::size_t least = 1);

}  // namespace lockstep::cli
