#pragma once
// The writers of a report: a page, text for a terminal, tables for other programs, and all of them as files.

#include <filesystem>
#include <string>
#include <vector>

#include "lockstep/lab/report/document.hpp"

namespace lockstep::report {

/// One self-contained page: style and drawings within it, no scripts, nothing fetched, a content-security-policy that
/// forbids both. It is read on a telephone, on a desk, in the dark and on paper; every drawing is there in two widths,
/// and the style shows the one that fits.
std::string to_html(const Document& document);

/// The report on a terminal: the same words and tables, without the drawings.
std::string to_text(const Document& document);
/// Title, columns, rows and notes of one table.
std::string table_text(const Table& table);

/// RFC 4180: a header of column keys, then raw values (not as shown, so without units and rounding). A column whose
/// cells have intervals is followed by <key>_low and <key>_high; the last column is "mark" where a row has one.
std::string table_csv(const Table& table);

/// Every table with every cell, as it is shown and raw: {"title", "tables": [{"name", "title", "columns": [{"key",
/// "title", "unit"}], "rows": [{"mark", "cells": [{"text", "value", "low", "high", "interval", "mark", "note",
/// "samples"}]}]}]}. What a cell does not have is left out; a value that is not finite is null.
std::string tables_json(const Document& document);

/// The lines that Extra-P reads (--json): {"params": {...}, "metric": ..., "callpath": ..., "value": ...}, one for each
/// sample of each cell in a column with Role::metric (its value, where samples were not kept). Parameters are the
/// columns with Role::parameter, the call path is the column with Role::call_path or the name of the table. Rows that
/// lack a parameter are left out. Empty where the table has no parameter or no metric.
std::string extra_p_lines(const NamedTable& table);

/// Besides report.html.
struct FileOptions {
  bool json = true;      // report.json: every cell of every table
  bool csv = false;      // <table>.csv
  bool extra_p = false;  // <table>.extra-p.jsonl, of tables that have parameters and metrics
  std::string name = "report";
};

/// Writes the files into the folder, which must be there, each of them atomically. Returns their paths, the page first.
std::vector<std::filesystem::path> write_report(const Document& document, const std::filesystem::path& folder,
                                                const FileOptions& options = {});

}  // namespace lockstep::report
