#pragma once
// The report of a ladder, from its results alone.

#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "lockstep/lab/report/document.hpp"
#include "lockstep/lab/results.hpp"

namespace lockstep::cli {

struct LadderLines;

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
