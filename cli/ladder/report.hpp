#pragma once
// The report of a ladder, from its results alone.

#include <span>
#include <vector>

#include "lockstep/lab/report/document.hpp"
#include "lockstep/lab/results.hpp"

namespace lockstep::cli {

/// Error(data) where the results hold no rung.
report::Document ladder_document(std::span<const Result> results);

/// The table of rungs: what a terminal shows first.
report::Table ladder_table(std::span<const Result> results);

/// What the table means, in sentences.
std::vector<std::string> ladder_summary(std::span<const Result> results);

}  // namespace lockstep::cli
