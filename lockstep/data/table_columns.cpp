#include "lockstep/data/table_columns.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lockstep/core/error.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/data/bytes.hpp"

namespace lockstep {

namespace {

constexpr std::array<std::string_view, 10> kLabelNames = {"label",   "labels",   "class",   "class_label", "target",
                                                          "targets", "category", "species", "outcome",     "y"};
constexpr std::string_view kKey = "data.label_column names another";

/// Letters in lower case, spaces around it left out.
std::string plain_name(std::string_view column) { return lower_case(trimmed(column)); }

std::vector<std::int64_t> columns_called(std::span<const std::string> names) {
  std::vector<std::int64_t> found;
  bool has_x = false;
  for (const std::string& column : names) has_x = has_x || plain_name(column) == "x";
  for (std::size_t c = 0; c < names.size(); ++c) {
    const std::string name = plain_name(names[c]);
    const bool known = std::find(kLabelNames.begin(), kLabelNames.end(), name) != kLabelNames.end();
    if (known && !(name == "y" && has_x)) found.push_back(static_cast<std::int64_t>(c));
  }
  return found;
}

/// How a column is called in a setting: by its name, or its index.
std::string key_of(std::span<const std::string> names, std::int64_t column) {
  return names.empty() ? std::to_string(column) : names[static_cast<std::size_t>(column)];
}

std::string listed(std::span<const std::string> names) {
  const std::vector<std::string_view> views(names.begin(), names.end());
  return names.empty() ? "it has no header" : fmt::format("names: {}", printable_list(views));
}

/// Makes the plan of a table of training.
class Planner {
 public:
  explicit Planner(PlanRequest& request)
      : request_(request),
        table_(request.table),
        width_(static_cast<std::int64_t>(table_.columns.size())),
        rows_(static_cast<std::int64_t>(table_.lines.size())) {}

  TablePlan plan() {
    TablePlan plan{.columns = {}, .width = width_};
    for (const std::int64_t c : chosen()) {
      const CsvColumn& cells = table_.columns[static_cast<std::size_t>(c)];
      TableColumn column{.name = table_.names.empty() ? "" : key_of(table_.names, c), .index = c};
      column.categories = cells.words;
      plan.columns.push_back(std::move(column));
    }
    if (const std::string inputs = describe_inputs(plan); !inputs.empty()) request_.notes.push_back(inputs);
    note_ids(plan);
    note_ranges(plan);
    return plan;
  }

 private:
  std::string column(std::int64_t c) const { return column_name(table_.names, c); }
  double value(std::int64_t row, std::int64_t c) const {
    return table_.values.as<double>()[static_cast<std::size_t>(row * width_ + c)];
  }
  std::int64_t require(const std::string& name, const char* key) const {
    return require_column(table_.names, width_, name, request_.name, key);
  }

  std::vector<std::int64_t> chosen() {
    std::vector<std::int64_t> columns;
    const DataConfig& config = request_.config;
    for (const std::string& name : config.columns) {
      const std::int64_t c = require(name, "columns");
      if (c == request_.label)
        throw Error(ErrorCode::usage, fmt::format("{}: data.columns: {} is the label; data.label_column names another",
                                                  request_.name, column(c)));
      if (c == request_.weights)
        throw Error(ErrorCode::usage, fmt::format("{}: data.columns: {} holds the weights; data.weights names another",
                                                  request_.name, column(c)));
      if (std::find(columns.begin(), columns.end(), c) != columns.end())
        throw Error(ErrorCode::usage, fmt::format("{}: data.columns names {} twice", request_.name, column(c)));
      columns.push_back(c);
    }
    std::set<std::int64_t> dropped, asked(columns.begin(), columns.end());
    for (const std::string& name : config.drop) dropped.insert(require(name, "drop"));
    for (const std::string& name : config.categorical) asked.insert(require(name, "categorical"));
    if (config.columns.empty())
      for (std::int64_t c = 0; c < width_; ++c)
        if (c != request_.label && c != request_.weights) columns.push_back(c);
    std::erase_if(columns, [&](std::int64_t c) { return dropped.contains(c); });
    for (const std::int64_t c : columns) check_slip(c);
    std::erase_if(columns, [&](std::int64_t c) { return is_useless(c, asked.contains(c)); });
    return columns;
  }

  void check_slip(std::int64_t c) const {
    const CsvColumn& cells = table_.columns[static_cast<std::size_t>(c)];
    const auto& words = request_.config.categorical;
    const bool asked = std::any_of(words.begin(), words.end(), [&](const std::string& name) {
      return find_column(table_.names, width_, name) == c;
    });
    if (asked || !is_slip(cells, rows_)) return;
    throw Error(
        ErrorCode::data,
        fmt::format("{}: line {}: {}: \"{}\" stands among numbers; mend it, or say that the column holds words, "
                    "data.categorical = [\"{}\"], or leave it out, data.drop = [\"{}\"]",
                    request_.name, cells.first_word.line, column(c), printable(cells.first_word.text),
                    printable(key_of(table_.names, c)), printable(key_of(table_.names, c))));
  }

  /// Says why a column is left out that nobody has asked for.
  bool is_useless(std::int64_t c, bool asked) {
    const CsvColumn& cells = table_.columns[static_cast<std::size_t>(c)];
    if (cells.missing == rows_) {
      request_.notes.push_back(fmt::format("{} has no value in any line and is left out", column(c)));
      return true;
    }
    if (asked || cells.words.empty()) return false;
    const auto words = static_cast<std::int64_t>(cells.words.size());
    const std::int64_t fields = rows_ - cells.missing;
    // Names, tickets, addresses: nearly every line has a word of its own.
    const bool free = words > 256 || (words > 10 && 2 * words > fields) || (words >= 5 && words == fields);
    if (!free) return false;
    request_.notes.push_back(
        fmt::format("{} has {} different words in {} and is left out; data.categorical = [\"{}\"] makes each an input",
                    column(c), words, count_of(fields, "line"), printable(key_of(table_.names, c))));
    return true;
  }

  void note_ids(const TablePlan& plan) {
    for (const TableColumn& each : plan.columns) {
      if (!each.categories.empty() || !is_id(each)) continue;
      request_.notes.push_back(
          fmt::format("{} looks like an id, which says nothing about new samples; data.drop = [\"{}\"] leaves it out",
                      column(each.index), printable(key_of(table_.names, each.index))));
    }
  }

  /// Whole numbers, each once, that count the lines or are called id.
  bool is_id(const TableColumn& each) const {
    constexpr std::int64_t kFewRows = 10;
    if (rows_ < kFewRows) return false;
    const std::string name = plain_name(each.name);
    const bool called =
        !table_.names.empty() && (name.empty() || name == "id" || name == "index" || name.ends_with("_id") ||
                                  name.starts_with("unnamed") || (each.name.size() > 2 && each.name.ends_with("Id")));
    std::set<double> seen;
    for (std::int64_t row = 0; row < rows_; ++row) {
      const double number = value(row, each.index);
      if (!(number == std::floor(number))) return false;
      if (!called && number != value(0, each.index) + static_cast<double>(row)) return false;
      if (called && !seen.insert(number).second) return false;
    }
    return true;
  }

  /// Numbers far from 1 make training slow or let it diverge: suggests the key that brings them near.
  void note_ranges(const TablePlan& plan) {
    constexpr double kFar = 20;
    if (request_.config.scale != 0 || request_.config.standardise) return;
    bool pixels = true;
    double largest = 0;
    const TableColumn* farthest = nullptr;
    for (const TableColumn& each : plan.columns) {
      if (!each.categories.empty()) continue;
      pixels = pixels && plain_name(each.name).starts_with("pixel");
      for (std::int64_t row = 0; row < rows_; ++row) {
        const double number = value(row, each.index);
        pixels = pixels && number >= 0 && number <= 255 && number == std::floor(number);
        if (!(std::abs(number) > std::abs(largest))) continue;
        largest = number;
        farthest = &each;
      }
    }
    if (pixels && largest > 1)
      request_.notes.push_back(fmt::format(
          "the columns called pixel hold integers from 0 to {}; data.scale = 255 divides them, and training "
          "likes numbers from 0 to 1",
          largest));
    else if (std::abs(largest) > kFar)
      request_.notes.push_back(fmt::format(
          "{} holds numbers as far from 0 as {}; data.standardise = true brings all columns to mean 0 and deviation 1, "
          "and training likes that",
          column_name(table_.names, farthest->index), largest));
  }

  PlanRequest& request_;
  const CsvTable& table_;
  std::int64_t width_, rows_;
};

}  // namespace

bool is_slip(const CsvColumn& column, std::int64_t rows) {
  return column.first_word.line > 0 && column.numbers >= 9 * (rows - column.numbers - column.missing);
}

std::string label_names() { return fmt::format("{}", fmt::join(kLabelNames, ", ")); }

LabelChoice choose_label(std::span<const std::string> names, std::int64_t width, std::string_view wanted,
                         std::string_view name) {
  if (wanted == "none") return {};
  if (!wanted.empty()) return {require_column(names, width, wanted, name, "label_column"), {}};
  const std::int64_t last = width - 1;
  if (names.empty())
    return {last,
            fmt::format("{}: it has no header; the last column, {}, is taken as the label; {}", name, last, kKey)};
  const std::vector<std::int64_t> called = columns_called(names);
  if (called.empty())
    return {last, fmt::format("{}: no column is called {}; the last one, {}, is taken as the label; {}", name,
                              label_names(), column_name(names, last), kKey)};
  if (called.size() > 1)
    throw Error(ErrorCode::usage, fmt::format("{}: {} and {} could both be the label; say which in data.label_column",
                                              name, column_name(names, called[0]), column_name(names, called[1])));
  return {called[0], fmt::format("{}: {} is taken as the label; {}", name, column_name(names, called[0]), kKey)};
}

std::optional<std::int64_t> find_column(std::span<const std::string> names, std::int64_t width,
                                        std::string_view column) {
  const auto found = std::find(names.begin(), names.end(), column);
  if (found != names.end()) return found - names.begin();
  if (column == "last") return width - 1;
  if (const auto index = parse_number<std::int64_t>(column); index && *index >= 0 && *index < width) return *index;
  return std::nullopt;
}

std::int64_t require_column(std::span<const std::string> names, std::int64_t width, std::string_view column,
                            std::string_view name, std::string_view key) {
  if (const auto found = find_column(names, width, column)) return *found;
  const bool label = key == "label_column";
  throw Error(ErrorCode::usage,
              fmt::format("{}: {}no column \"{}\" among {} ({}){}", name, label ? "" : fmt::format("data.{}: ", key),
                          printable(column), width, listed(names),
                          label ? "; data.label_column = \"none\" takes a file without labels" : ""));
}

TablePlan plan_columns(PlanRequest& request) { return Planner(request).plan(); }

std::vector<std::int64_t> places_in(const TablePlan& plan, std::span<const std::string> names, std::int64_t width,
                                    std::string_view name) {
  const bool by_name = !names.empty() && std::none_of(plan.columns.begin(), plan.columns.end(),
                                                      [](const TableColumn& column) { return column.name.empty(); });
  const auto inputs = static_cast<std::int64_t>(plan.columns.size());
  if (!by_name && width != plan.width && width != inputs)
    throw Error(ErrorCode::data, fmt::format("{}: it has {}, the table of training has {}", name,
                                             count_of(width, "column"), plan.width));
  std::vector<std::int64_t> places;
  for (std::int64_t i = 0; i < inputs; ++i) {
    const TableColumn& column = plan.columns[static_cast<std::size_t>(i)];
    if (!by_name) {
      places.push_back(width == plan.width ? column.index : i);
      continue;
    }
    const auto found = std::find(names.begin(), names.end(), column.name);
    if (found == names.end())
      throw Error(ErrorCode::data, fmt::format("{}: no column \"{}\", which the table of training has; {}", name,
                                               printable(column.name), listed(names)));
    places.push_back(found - names.begin());
  }
  return places;
}

}  // namespace lockstep
