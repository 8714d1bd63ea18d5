#pragma once
// Tables as text: fields separated by commas, semicolons, tabs or bars; fields may be quoted, and then hold separators
// and line ends; CR LF or LF; a byte order mark is skipped. A column holds numbers or words. A field that is empty,
// NA, N/A, #N/A, <NA>, nan, null (in any case of letters) or ? is missing. Words that are no UTF-8 are taken as
// Latin-1.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lockstep/data/array.hpp"

namespace lockstep {

/// Stands where a number is missing.
inline constexpr double kMissingNumber = std::numeric_limits<double>::quiet_NaN();

struct CsvOptions {
  std::optional<bool> header;  // not given: the first line is one when words stand in it above numbers, or words only
  char separator = '\0';       // not given: the one that cuts the first lines into the same number of fields
  char decimal = '\0';         // '.' or ','; not given: a comma where fields such as 1,5 are not cut by commas
  /// Says which columns are read as words even if they hold numbers: called with the names (empty without a header)
  /// and the number of columns. Null: none.
  std::function<std::vector<bool>(std::span<const std::string> names, std::int64_t width)> as_words{};
};

/// A field, for messages.
struct CsvPlace {
  std::int64_t line = 0;  // from 1; 0: there is none
  std::string text;
};

struct CsvColumn {
  /// Not empty: the column holds these words, sorted (by value where all are numbers); its values are their indices.
  std::vector<std::string> words;
  std::int64_t missing = 0;  // fields
  CsvPlace first_missing{};  // of them
  CsvPlace first_word{};     // the first field that is no number
  std::int64_t numbers = 0;  // fields that are numbers
};

struct CsvTable {
  std::vector<std::string> names;  // from the header, each once: a second "a" is "a (2)"; empty without a header
  Array values;                    // float64 [lines, columns]: NaN where a field is missing
  std::vector<CsvColumn> columns;
  char separator = ',', decimal = '.';
  bool guessed_decimal = false;       // a decimal comma that no option asked for
  std::vector<std::int64_t> lines{};  // of the file, one per row of values
};

/// Empty lines are skipped. Messages name file, line, byte and column; Error(data) for a number that is not finite, and
/// for lines of different lengths.
CsvTable parse_csv(std::span<const std::byte> bytes, std::string_view name, const CsvOptions& options = {});

/// The file, or all of standard input where the path is "-".
std::vector<std::byte> read_csv_bytes(const std::filesystem::path& path);
CsvTable read_csv(const std::filesystem::path& path, const CsvOptions& options = {});

/// "column 3 (width)", or "column 3" without a header.
std::string column_name(std::span<const std::string> names, std::int64_t column);

}  // namespace lockstep
