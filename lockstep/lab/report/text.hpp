#pragma once
// The report on a terminal: the same words and tables, without the drawings.

#include <string>

#include "lockstep/lab/report/document.hpp"

namespace lockstep::report {

std::string to_text(const Document& document);
/// Title, columns, rows and notes of one table.
std::string table_text(const Table& table);

}  // namespace lockstep::report
