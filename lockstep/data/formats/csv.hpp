#pragma once
// Tables of numbers as text: separated by commas, semicolons or tabs; fields may be quoted; CR LF or LF; a byte order
// mark is skipped. Every field must be a finite number: an empty field, text, nan or inf is an error with its line.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lockstep/data/array.hpp"
#include "lockstep/data/formats/csv_label.hpp"

namespace lockstep {

struct CsvOptions {
  std::optional<bool> header;  // not given: the first line is one when a field of it is no number
  char separator = '\0';       // not given: the one of , ; tab that stands most often in the first line
  std::string label = "none";  // as choose_label takes it
  bool classes = true;         // labels are classes: text among them gets a hint of its own
};

struct CsvTable {
  std::vector<std::string> columns;  // from the header; empty without one
  Array values;                      // float64 [lines, columns]
  CsvLabel label;
};

/// Empty lines are accepted at the end only. Messages name file, line, byte and column.
CsvTable parse_csv(std::span<const std::byte> bytes, std::string_view name, const CsvOptions& options = {});
CsvTable read_csv(const std::filesystem::path& path, const CsvOptions& options = {});

/// Takes column `index` out of the table: first the rest [lines, columns - 1], then the column [lines].
struct CsvParts {
  Array features, column;
};
CsvParts take_column(const CsvTable& table, std::int64_t index);

}  // namespace lockstep
