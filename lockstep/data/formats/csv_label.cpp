#include "lockstep/data/formats/csv_label.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lockstep/core/error.hpp"
#include "lockstep/data/bytes.hpp"

namespace lockstep {
namespace {

constexpr std::array<std::string_view, 10> kLabelNames = {"label",   "labels",   "class",   "class_label", "target",
                                                          "targets", "category", "species", "outcome",     "y"};
constexpr std::string_view kKey = "data.label_column names another";

std::vector<std::int64_t> columns_called(std::span<const std::string> columns) {
  std::vector<std::int64_t> found;
  bool has_x = false;
  for (const std::string& column : columns) has_x = has_x || plain_name(column) == "x";
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const std::string name = plain_name(columns[c]);
    const bool known = std::find(kLabelNames.begin(), kLabelNames.end(), name) != kLabelNames.end();
    if (known && !(name == "y" && has_x)) found.push_back(static_cast<std::int64_t>(c));
  }
  return found;
}

}  // namespace

std::string label_names() { return fmt::format("{}", fmt::join(kLabelNames, ", ")); }

std::string plain_name(std::string_view column) {
  while (!column.empty() && column.front() == ' ') column.remove_prefix(1);
  while (!column.empty() && column.back() == ' ') column.remove_suffix(1);
  std::string name(column);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return name;
}

std::string column_name(std::span<const std::string> columns, std::int64_t column) {
  if (columns.empty()) return fmt::format("column {}", column);
  return fmt::format("column {} ({})", column, printable(columns[static_cast<std::size_t>(column)]));
}

CsvLabel choose_label(std::span<const std::string> columns, std::int64_t width, std::string_view wanted,
                      std::string_view name) {
  if (wanted == "none") return {};
  if (!wanted.empty()) return {find_column(columns, width, wanted, name), {}};
  const std::int64_t last = width - 1;
  if (columns.empty()) {
    return {last,
            fmt::format("{}: it has no header; the last column, {}, is taken as the label; {}", name, last, kKey)};
  }
  const std::vector<std::int64_t> called = columns_called(columns);
  if (called.empty()) {
    return {last, fmt::format("{}: no column is called {}; the last one, {}, is taken as the label; {}", name,
                              label_names(), column_name(columns, last), kKey)};
  }
  if (called.size() > 1) {
    throw Error(ExitCode::usage, fmt::format("{}: {} and {} could both be the label; say which in data.label_column",
                                             name, column_name(columns, called[0]), column_name(columns, called[1])));
  }
  return {called[0], fmt::format("{}: {} is taken as the label; {}", name, column_name(columns, called[0]), kKey)};
}

std::int64_t find_column(std::span<const std::string> columns, std::int64_t width, std::string_view column,
                         std::string_view name) {
  if (column == "last") return width - 1;
  const auto found = std::find(columns.begin(), columns.end(), column);
  if (found != columns.end()) return found - columns.begin();
  std::int64_t index = -1;
  const auto [end, error] = std::from_chars(column.data(), column.data() + column.size(), index);
  if (error == std::errc{} && end == column.data() + column.size() && index >= 0 && index < width) return index;
  const std::vector<std::string_view> names(columns.begin(), columns.end());
  const std::string known = names.empty() ? "it has no header" : fmt::format("names: {}", printable_list(names));
  throw Error(ExitCode::usage, fmt::format("{}: no column \"{}\" among {} ({})", name, column, width, known));
}

}  // namespace lockstep
