#include "lockstep/data/formats/csv.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "lockstep/core/error.hpp"
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
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  if (text.size() > 1 && text.front() == '+' && text[1] != '-') text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
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
  if (fields.size() != width) {
    lexer.fail(fields.front().at, fmt::format("{} fields, the first line has {}", fields.size(), width));
  }
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

}  // namespace

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
