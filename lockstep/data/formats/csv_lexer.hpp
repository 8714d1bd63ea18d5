#pragma once
// Lines and fields of a table as text: what csv.cpp reads with.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

struct CsvField {
  std::string text;
  std::size_t at = 0;  // its first byte in the file
};

/// The separator of a table, by its first lines: of comma, semicolon, tab and bar the one that stands equally often in
/// each of them; a semicolon between numbers such as 1,5 goes before the comma.
char guess_separator(std::string_view text);

/// The text itself where it is UTF-8, else its bytes as letters of Latin-1, in UTF-8.
std::string utf8_of(std::string_view text);

/// Cuts a text into lines and fields.
class CsvLexer {
 public:
  CsvLexer(std::string_view text, std::string_view name, char separator);

  /// Goes to the next line; false at the end.
  bool next_line();
  std::span<const CsvField> fields() const { return {fields_.data(), count_}; }
  /// The number of the line that the fields begin in, from 1.
  std::int64_t line() const { return line_; }

  [[noreturn]] void fail(std::size_t at, std::string_view what) const;

 private:
  bool take_separator();
  void read_field(CsvField& field);
  void read_quoted(CsvField& field);

  std::string_view text_, name_;
  char separator_;
  std::size_t at_ = 0;
  std::int64_t line_ = 0, next_line_ = 1;
  std::vector<CsvField> fields_;  // strings are used again from line to line
  std::size_t count_ = 0;
};

}  // namespace lockstep
