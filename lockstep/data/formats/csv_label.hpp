#pragma once
// Which column of a table holds the label.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

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

}  // namespace lockstep
