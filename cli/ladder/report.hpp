#pragma once
// The report of a ladder, from its results alone, and its parts, each from the results of one kind.

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/ladder/records.hpp"

namespace lockstep::cli {

using RungLine = Line<RungRecord>;

/// The lines of a ladder, by kind.
struct LadderLines {
  std::vector<RungLine> rungs{};  // with samples, of the same training: not those of weak scaling
  std::optional<Line<CeilingsRecord>> ceilings{};
  std::vector<Line<FitRecord>> fits{};
  std::vector<Line<SectionsRecord>> sections{};
  std::optional<Line<RooflineRecord>> roofline{};  // of SIMD kernels on one thread
  std::optional<Line<CurveRecord>> curve{};
  std::vector<Line<CheckRecord>> checks{};
  std::vector<Line<LeftOutRecord>> left_out{};

  /// By the name of the rung; null: none.
  const RungLine* rung(std::string_view name) const;
  const Line<SectionsRecord>* sections_of(std::string_view name) const;
};
/// Error(data) without a rung.
LadderLines ladder_lines(std::span<const Result> results);

/// Median of `base` over median of `own`, with the interval that their intervals allow.
struct Speedup {
  double value = 0;
  std::optional<report::Interval> interval{};  // nothing where one of them has too few samples
  std::int64_t samples = 0;                    // of the one with fewer
};
std::optional<Speedup> speedup_of(const Result* base, const Result& own);

/// What stands where a share would that cannot be one.
report::Cell not_usable_cell();

report::Tone tone_of(RungGroup group);

/// Every point of strong and weak scaling; no rows where nothing scales here.
report::Table scaling_table(const LadderLines& ladder);
/// The POP factors of every rung with several workers.
report::Table pop_table(const LadderLines& ladder);
/// What each kind of parallelism (SIMD, threads, ranks, device) gains, and in which section most and least.
std::vector<std::string> section_sentences(const LadderLines& ladder);

void add_scaling(const LadderLines& ladder, report::Document& document);
void add_roofline(const LadderLines& ladder, report::Document& document);
void add_sections(const LadderLines& ladder, report::Document& document);
void add_curves(const LadderLines& ladder, report::Document& document);
void add_method(const LadderLines& ladder, report::Document& document);

/// Error(data) where the results hold no rung.
report::Document ladder_document(std::span<const Result> results);

/// The table of rungs: what a terminal shows first.
report::Table ladder_table(const LadderLines& ladder);

/// What a terminal shows: one table narrow enough for it, with a legend in two lines.
report::Table short_ladder_table(const LadderLines& ladder);

/// The same rows with these columns alone, by their keys.
report::Table columns_of(const report::Table& table, std::initializer_list<std::string_view> keys);

/// What the table means: three sentences (the fastest rung, what limits it, whose weights are the same), and what the
/// peers take where there are some.
std::vector<std::string> ladder_summary(const LadderLines& ladder);

}  // namespace lockstep::cli
