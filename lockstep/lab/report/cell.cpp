#include "lockstep/lab/report/cell.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include <fmt/format.h>

#include "lockstep/lab/text_table.hpp"

namespace lockstep::report {

namespace {

/// "12345.6" -> "12,345.6"; four digits stay together.
std::string grouped(std::string text) {
  const std::size_t begin = text.starts_with('-') ? 1 : 0;
  const std::size_t end = std::min(text.find('.'), text.size());
  if (end - begin > 4)
    for (std::size_t at = end; at > begin + 3;) text.insert(at -= 3, ",");
  return text;
}

/// The power of ten of the value once it is rounded to `digits`: 3 for 9999.7 with 4 digits is 4.
int rounded_exponent(double value, int digits) {
  const std::string text = fmt::format("{:.{}e}", value, digits - 1);
  return std::atoi(text.c_str() + text.find('e') + 1);
}

std::string significant_text(double value, int digits) {
  digits = std::clamp(digits, 1, 17);
  if (value == 0) return "0";
  const int exponent = rounded_exponent(value, digits);
  if (exponent < -4 || exponent > 7) return fmt::format("{:.{}e}", value, digits - 1);
  return grouped(fmt::format("{:.{}f}", value, std::max(0, digits - 1 - exponent)));
}

/// "12.30" -> "12.3"; exponents stay as they are.
std::string without_zeros(std::string text) {
  if (text.find('.') == std::string::npos || text.find('e') != std::string::npos) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

std::string seconds_text(double value) {
  const double size = std::abs(value);
  if (size >= 59.95) return (value < 0 ? "-" : "") + duration(std::max(size, 60.0));
  if (size == 0) return "0 s";
  struct Unit {
    double size;
    std::string_view name;
  };
  // The smallest unit in which the rounded number stays below 1000.
  for (const Unit unit : {Unit{1e-9, "ns"}, {1e-6, "µs"}, {1e-3, "ms"}})
    if (size / unit.size < 999.5) return fmt::format("{} {}", significant_text(value / unit.size, 3), unit.name);
  return fmt::format("{} s", significant_text(value, 3));
}

std::string bytes_text(double value) {
  constexpr std::string_view kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  std::size_t step = 0;
  while (std::abs(value) >= 1023.5 && step + 1 < std::size(kUnits)) value /= 1024, ++step;
  return fmt::format("{} {}", step == 0 ? fmt::format("{:.0f}", value) : significant_text(value, 3), kUnits[step]);
}

}  // namespace

std::string format_number(double value, Format format) {
  if (std::isnan(value)) return "not a number";
  if (std::isinf(value)) return value < 0 ? "-∞" : "∞";
  const int digits = std::clamp(format.digits, 0, 17);
  switch (format.style) {
    case Style::automatic:
      if (value == std::floor(value) && std::abs(value) < 1e15) return grouped(fmt::format("{:.0f}", value));
      return without_zeros(significant_text(value, 4));
    case Style::integer:
      return grouped(fmt::format("{:.0f}", value));
    case Style::fixed:
      return grouped(fmt::format("{:.{}f}", value, digits));
    case Style::significant:
      return significant_text(value, digits);
    case Style::scientific:
      return fmt::format("{:.{}e}", value, digits);
    case Style::percent:
      return fmt::format("{:.{}f} %", 100 * value, digits);
    case Style::ratio:
      return significant_text(value, 3) + "×";
    case Style::seconds:
      return seconds_text(value);
    case Style::prefix:
      return with_prefix(value);
    case Style::bytes:
      return bytes_text(value);
  }
  return {};
}

Cell::Cell() = default;
Cell::Cell(const Cell&) = default;
Cell::Cell(Cell&&) noexcept = default;
Cell& Cell::operator=(const Cell&) = default;
Cell& Cell::operator=(Cell&&) noexcept = default;
Cell::~Cell() = default;
Cell::Cell(const char* words) : value(std::string(words)) {}
Cell::Cell(std::string words) : value(std::move(words)) {}

void Cell::set(double number) { value = number; }
void Cell::set(std::int64_t number) { value = number; }

std::optional<double> Cell::number() const {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  if (const auto* real = std::get_if<double>(&value)) return *real;
  return {};
}

std::string column_key(const Column& column) {
  if (!column.key.empty()) return column.key;
  std::string key;
  for (const char c : column.title) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    const bool capital = c >= 'A' && c <= 'Z';
    if (letter || capital)
      key += capital ? static_cast<char>(c - 'A' + 'a') : c;
    else if (!key.empty() && key.back() != '_')
      key += '_';
  }
  while (key.ends_with('_')) key.pop_back();
  return key.empty() ? "column" : key;
}

std::string cell_text(const Column& column, const Cell& cell) {
  if (cell.text) return *cell.text;
  if (const auto* words = std::get_if<std::string>(&cell.value)) return *words;
  const auto number = cell.number();
  return number ? format_number(*number, cell.format.value_or(column.format)) : "—";
}

std::string interval_text(const Column& column, const Cell& cell) {
  if (!cell.error) return {};
  const Format format = cell.format.value_or(column.format);
  const std::string low = format_number(cell.error->low, format), high = format_number(cell.error->high, format);
  // "[1.20 ms, 1.31 ms]" -> "[1.20, 1.31 ms]", where both ends have the same unit.
  const auto unit_of = [](const std::string& text) {
    return text.ends_with("×") ? std::string("×") : text.substr(std::min(text.find(' '), text.size()));
  };
  const std::string unit = unit_of(low);
  const bool shared = !unit.empty() && unit == unit_of(high) && unit.find(' ', 1) == std::string::npos;
  return fmt::format("[{}, {}]", shared ? low.substr(0, low.size() - unit.size()) : low, high);
}

}  // namespace lockstep::report
