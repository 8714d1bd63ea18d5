#pragma once
// Which command draws which results: a file of results is shown by the first entry whose kind occurs in it.

#include <span>
#include <string_view>

#include "lockstep/lab/report/document.hpp"
#include "lockstep/lab/results.hpp"

namespace lockstep::cli {

struct ReportKind {
  std::string_view kind;  // one of result_kinds()
  report::Document (*make)(std::span<const Result> results);
};

/// Add a kind here. Kinds without an entry come out as plain tables.
std::span<const ReportKind> report_kinds();

/// The document for these results.
report::Document document_of(std::span<const Result> results);

}  // namespace lockstep::cli
