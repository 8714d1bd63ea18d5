#include "lockstep/data/formats/csv.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lockstep/core/error.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/data/bytes.hpp"
#include "lockstep/data/file.hpp"

namespace lockstep {

namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

struct Cell {
  std::string text;
  std::size_t at = 0;  // its first byte in the file
};

std::optional<double> number_of(std::string_view text) {
  text = trimmed(text);
  if (text.size() > 1 && text.front() == '+' && text[1] != '-') text.remove_prefix(1);
  const auto value = parse_number<double>(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

char guess_separator(std::string_view line) {
  char best = ',';
  std::ptrdiff_t most = 0;
  for (const char candidate : {',', ';', '\t'}) {
    std::ptrdiff_t count = 0;
    bool quoted = false;
    for (const char c : line) {
      if (c == '"') quoted = !quoted;
      if (c == candidate && !quoted) ++count;
    }
    if (count > most) {
      best = candidate;
      most = count;
    }
  }
  return best;
}

/// Cuts the text into lines and fields.
class CsvLexer {
 public:
  CsvLexer(std::string_view text, std::string_view name, char separator)
      : text_(text), name_(name), separator_(separator) {
    if (text_.starts_with(kByteOrderMark)) at_ = kByteOrderMark.size();
    if (separator_ == '\0') separator_ = guess_separator(text_.substr(at_, text_.find('\n', at_) - at_));
  }

  bool at_end() const { return text_.find_first_not_of("\r\n", at_) == std::string_view::npos; }
  std::int64_t line() const { return line_; }

  /// The fields of the next line.
  const std::vector<Cell>& next_line() {
    ++line_;
    fields_.clear();
    do {
      fields_.push_back(next_field());
    } while (take_separator());
    if (at_ < text_.size() && text_[at_] == '\r') ++at_;
    if (at_ < text_.size()) {
      if (text_[at_] != '\n') fail(at_, "text behind a closing quote, or a stray carriage return");
      ++at_;
    }
    return fields_;
  }

  [[noreturn]] void fail(std::size_t at, std::string_view what) const {
    throw Error(ExitCode::data, fmt::format("{}: line {}, byte {}: {}", name_, line_, at, what));
  }

 private:
  bool take_separator() {
    if (at_ >= text_.size() || text_[at_] != separator_) return false;
    ++at_;
    return true;
  }

  Cell next_field() {
    if (at_ < text_.size() && text_[at_] == '"') return quoted_field();
    const std::size_t start = at_;
    while (at_ < text_.size() && text_[at_] != separator_ && text_[at_] != '\n' && text_[at_] != '\r') ++at_;
    return {std::string(text_.substr(start, at_ - start)), start};
  }

  Cell quoted_field() {
    Cell field{{}, at_++};
    while (true) {
      if (at_ >= text_.size() || text_[at_] == '\n') fail(field.at, "a quoted field without its closing quote");
      if (text_[at_] == '"') {
        ++at_;
        if (at_ >= text_.size() || text_[at_] != '"') return field;  // two quotes stand for one
      }
      field.text.push_back(text_[at_++]);
    }
  }

  std::string_view text_, name_;
  char separator_;
  std::size_t at_ = 0;
  std::int64_t line_ = 0;
  std::vector<Cell> fields_;
};

void append_line(const CsvLexer& lexer, const std::vector<Cell>& fields, std::size_t width, const CsvTable& table,
                 bool classes, std::vector<double>& values) {
  if (fields.size() != width)
    lexer.fail(fields.front().at, fmt::format("{} fields, the first line has {}", fields.size(), width));
  for (std::size_t c = 0; c < width; ++c) {
    const auto value = number_of(fields[c].text);
    if (!value) {
      const auto column = static_cast<std::int64_t>(c);
      const bool label = classes && column == table.label.column;
      lexer.fail(fields[c].at, fmt::format("{}: \"{}\" is not a finite number{}", column_name(table.columns, column),
                                           printable(fields[c].text),
                                           label ? "; this is the label: give classes as integers from 0" : ""));
    }
    values.push_back(*value);
  }
}

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

std::string plain_name(std::string_view column) { return lower_case(trimmed(column)); }

std::string column_name(std::span<const std::string> columns, std::int64_t column) {
  if (columns.empty()) return fmt::format("column {}", column);
  return fmt::format("column {} ({})", column, printable(columns[static_cast<std::size_t>(column)]));
}

CsvLabel choose_label(std::span<const std::string> columns, std::int64_t width, std::string_view wanted,
                      std::string_view name) {
  if (wanted == "none") return {};
  if (!wanted.empty()) return {find_column(columns, width, wanted, name), {}};
  const std::int64_t last = width - 1;
  if (columns.empty())
    return {last,
            fmt::format("{}: it has no header; the last column, {}, is taken as the label; {}", name, last, kKey)};
  const std::vector<std::int64_t> called = columns_called(columns);
  if (called.empty())
    return {last, fmt::format("{}: no column is called {}; the last one, {}, is taken as the label; {}", name,
                              label_names(), column_name(columns, last), kKey)};
  if (called.size() > 1)
    throw Error(ExitCode::usage, fmt::format("{}: {} and {} could both be the label; say which in data.label_column",
                                             name, column_name(columns, called[0]), column_name(columns, called[1])));
  return {called[0], fmt::format("{}: {} is taken as the label; {}", name, column_name(columns, called[0]), kKey)};
}

std::int64_t find_column(std::span<const std::string> columns, std::int64_t width, std::string_view column,
                         std::string_view name) {
  if (column == "last") return width - 1;
  const auto found = std::find(columns.begin(), columns.end(), column);
  if (found != columns.end()) return found - columns.begin();
  if (const auto index = parse_number<std::int64_t>(column); index && *index >= 0 && *index < width) return *index;
  const std::vector<std::string_view> names(columns.begin(), columns.end());
  const std::string known = names.empty() ? "it has no header" : fmt::format("names: {}", printable_list(names));
  throw Error(
      ExitCode::usage,
      fmt::format("{}: no column \"{}\" among {} ({}); data.label_column = \"none\" takes a file without labels", name,
                  column, width, known));
}

CsvTable parse_csv(std::span<const std::byte> bytes, std::string_view name, const CsvOptions& options) {
  CsvLexer lexer({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, name, options.separator);
  CsvTable table;
  std::vector<double> values;
  std::size_t width = 0;
  while (!lexer.at_end()) {
    const std::vector<Cell>& fields = lexer.next_line();
    if (lexer.line() == 1) {
      width = fields.size();
      const bool text = std::any_of(fields.begin(), fields.end(), [](const Cell& f) { return !number_of(f.text); });
      if (options.header.value_or(text)) {
        for (const Cell& field : fields) table.columns.push_back(field.text);
      }
      table.label = choose_label(table.columns, static_cast<std::int64_t>(width), options.label, name);
      if (!table.columns.empty()) continue;
    }
    append_line(lexer, fields, width, table, options.classes, values);
  }
  if (values.empty()) throw Error(ExitCode::data, fmt::format("{}: no numbers, at least one line was expected", name));
  const auto lines = static_cast<std::int64_t>(values.size() / width);
  table.values = array_from<double>({lines, static_cast<std::int64_t>(width)}, values);
  return table;
}

CsvTable read_csv(const std::filesystem::path& path, const CsvOptions& options) {
  return parse_csv(read_data_file(path), path.string(), options);
}

CsvParts take_column(const CsvTable& table, std::int64_t index) {
  const std::int64_t lines = table.values.dims[0], width = table.values.dims[1];
  CsvParts parts{make_array(ElementType::float64, {lines, width - 1}), make_array(ElementType::float64, {lines})};
  const auto all = table.values.as<double>();
  const auto features = parts.features.as<double>(), column = parts.column.as<double>();
  for (std::int64_t line = 0, next = 0; line < lines; ++line) {
    for (std::int64_t c = 0; c < width; ++c) {
      const double value = all[static_cast<std::size_t>(line * width + c)];
      if (c == index) {
        column[static_cast<std::size_t>(line)] = value;
      } else {
        features[static_cast<std::size_t>(next++)] = value;
      }
    }
  }
  return parts;
}

}  // namespace lockstep
