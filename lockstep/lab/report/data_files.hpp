#pragma once
// The tables of a report for other programs.

#include <string>

#include "lockstep/lab/report/document.hpp"

namespace lockstep::report {

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

}  // namespace lockstep::report
