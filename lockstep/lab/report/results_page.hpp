#pragma once
// What every report on measurements shows of their origin, and a plain report on any results at all.

#include <span>
#include <vector>

#include "lockstep/lab/report/document.hpp"
#include "lockstep/lab/results.hpp"

namespace lockstep::report {

/// The median with its 95 % interval, or with "n = 2" where there are too few samples for one.
Cell median_cell(const Summary& summary);

/// Processor, cores, caches, instruction sets, load, versions, commit, time.
Facts machine_facts(const ResultOrigin& origin);

/// One notice for each warning under which results were taken, with how many of them it concerns.
std::vector<Notice> warning_notices(std::span<const Result> results);

/// The results of each kind as a table: for files that no command has a report of its own for.
Document results_document(std::span<const Result> results);

}  // namespace lockstep::report
