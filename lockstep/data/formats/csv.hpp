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

namespace lockstep {

struct CsvLabel {
  std::int64_t column = -1;  // -1: none
  std::string note;          // how it was chosen, where the configuration does not say; else empty
};

/// The names that mean a label, in any case of letters: "label, labels, class, ...".
std::string label_names();

/// `wanted`: a name, an index from 0, "last", "none", or empty: the one column with a name of label_names(), otherwise
/// the last one. `y` beside a column `x` is a coordinate and no label. Error(usage) when several columns have such a
/// name. `columns` is empty without a header; `name` is the file.
CsvLabel choose_label(std::span<const std::string> columns, std::int64_t width, std::string_view wanted,
                      std::string_view name);

/// The index of a column given by name, by index from 0, or as "last". Error(usage) lists the names.
std::int64_t find_column(std::span<const std::string> columns, std::int64_t width, std::string_view column,
                         std::string_view name);

/// "column 3 (width)", or "column 3" without a header.
std::string column_name(std::span<const std::string> columns, std::int64_t column);

/// Letters in lower case, spaces around it left out.
std::string plain_name(std::string_view column);

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
