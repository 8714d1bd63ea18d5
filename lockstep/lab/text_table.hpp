#pragma once
// Columns of text, and numbers as people read them.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

/// Rows of cells; each column is as wide as its widest cell, two spaces apart.
class TextTable {
 public:
  /// One letter per column: 'l' flush left, 'r' flush right.
  explicit TextTable(std::string_view alignment) : alignment_(alignment) {}
  /// Missing cells at the end are empty.
  void row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  /// Every row on its line, `indent` spaces before it, no spaces at its end.
  std::string str(int indent = 0) const;

 private:
  std::string alignment_;
  std::vector<std::vector<std::string>> rows_;
};

/// 61706 -> "61,706"
std::string with_commas(std::int64_t number);
/// 416520 -> "416.5 k", 2.31e9 -> "2.31 G"
std::string with_prefix(double number);
/// "3.2 s", "4 min 07 s", "2 h 05 min"
std::string duration(double seconds);
/// A loss: 4 significant digits or more.
std::string loss_text(double loss);
/// "97.52 %", or "-" for nothing.
std::string percent(std::optional<double> fraction);
/// "n = 2": what stands where the interval of enough samples would.
std::string too_few_text(std::int64_t samples);
/// Characters, where a UTF-8 sequence is one.
std::int64_t display_width(std::string_view text);

}  // namespace lockstep
