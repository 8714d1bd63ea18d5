#pragma once
// Parts of a ladder's report, each from the results of one kind.

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lockstep/lab/report/document.hpp"
#include "lockstep/lab/results.hpp"

namespace lockstep::cli {

/// Results by kind and name.
class ResultSet {
 public:
  explicit ResultSet(std::span<const Result> results) : results_(results) {}
  std::vector<const Result*> of(const std::string& kind) const;
  const Result* find(const std::string& kind, const std::string& name) const;
  /// The rungs that train the same network: not those of weak scaling.
  std::vector<const Result*> rungs() const;

 private:
  std::span<const Result> results_;
};

/// Median of `base` over median of `own`, with the interval that their intervals allow.
struct Speedup {
  double value = 0;
  std::optional<report::Interval> interval{};  // nothing where one of them has too few samples
  std::int64_t samples = 0;                    // of the one with fewer
};
std::optional<Speedup> speedup_of(const Result* base, const Result& own);

/// What stands where a share would that cannot be one.
report::Cell not_usable_cell();

report::Tone tone_of(const Result& rung);

/// A series of a result by its name; null: it has none.
const std::vector<double>* series(const Result& result, const std::string& name);

/// Every point of strong and weak scaling; no rows where nothing scales here.
report::Table scaling_table(const ResultSet& results);
/// The POP factors of every rung with several workers.
report::Table pop_table(const ResultSet& results);
/// What each kind of parallelism (SIMD, threads, ranks, device) brings, and to which part most and least.
std::vector<std::string> section_sentences(const ResultSet& results);

void add_scaling(const ResultSet& results, report::Document& document);
void add_roofline(const ResultSet& results, report::Document& document);
void add_sections(const ResultSet& results, report::Document& document);
void add_curves(const ResultSet& results, report::Document& document);
void add_method(const ResultSet& results, report::Document& document);

}  // namespace lockstep::cli
