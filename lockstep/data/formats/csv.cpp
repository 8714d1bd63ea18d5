#include "lockstep/data/formats/csv.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "lockstep/core/error.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/data/bytes.hpp"
#include "lockstep/data/file.hpp"
#include "lockstep/data/formats/csv_lexer.hpp"

namespace lockstep {

namespace {

enum class Kind { number, comma_number, missing, word };

struct Read {
  Kind kind = Kind::word;
  double value = kMissingNumber;
};

bool is_missing(std::string_view text) {
  constexpr std::array<std::string_view, 6> kWords = {"na", "n/a", "#n/a", "<na>", "nan", "null"};
  if (text.empty() || text == "?") return true;
  return text.size() <= 4 && std::find(kWords.begin(), kWords.end(), lower_case(text)) != kWords.end();
}

std::optional<double> number_of(std::string_view text) {
  if (text.size() > 1 && text.front() == '+' && text[1] != '-') text.remove_prefix(1);
  return parse_number<double>(text);
}

/// 1,5 as 1.5: one comma, and no point.
std::optional<double> comma_number_of(std::string_view text) {
  const std::size_t comma = text.find(',');
  if (comma == std::string_view::npos || text.size() > 64 || text.find('.') != std::string_view::npos)
    return std::nullopt;
  std::string pointed(text);
  pointed[comma] = '.';
  return number_of(pointed);
}

/// What a field is; an infinity is a number here.
Read read_field(std::string_view text, char decimal) {
  if (text.empty()) return {Kind::missing};
  const bool pointed = decimal == ',' && text.find('.') != std::string_view::npos;
  if (!pointed)
    if (const auto value = number_of(text))
      return std::isnan(*value) ? Read{Kind::missing} : Read{Kind::number, *value};
  if (decimal != '.')
    if (const auto value = comma_number_of(text)) return {decimal == ',' ? Kind::number : Kind::comma_number, *value};
  return {is_missing(text) ? Kind::missing : Kind::word};
}

/// What the fields of a column are, without the first line.
struct Seen {
  std::int64_t numbers = 0, commas = 0, words = 0, missing = 0;
  CsvPlace first_word{}, first_comma{}, first_missing{};
};

class CsvParser {
 public:
  CsvParser(std::span<const std::byte> bytes, std::string_view name, const CsvOptions& options)
      : text_(reinterpret_cast<const char*>(bytes.data()), bytes.size()), name_(name), options_(options) {
    table_.separator = options.separator != '\0' ? options.separator : guess_separator(text_);
    table_.decimal = options.decimal;
  }

  CsvTable parse() {
    scan();
    settle_decimal();
    if (settle_header()) take_header();
    describe_columns();
    if (table_.lines.empty())
      throw Error(ErrorCode::data, fmt::format("{}: no numbers, at least one line was expected", name_));
    read_words();
    const auto rows = static_cast<std::int64_t>(table_.lines.size());
    table_.values = array_from<double>({rows, static_cast<std::int64_t>(width_)}, values_);
    return std::move(table_);
  }

 private:
  /// Calls visit(cells) for every line that is not empty.
  template <class Visit>
  void for_each_line(const Visit& visit) const {
    CsvLexer lexer(text_, name_, table_.separator);
    while (lexer.next_line()) {
      if (lexer.fields().size() == 1 && width_ > 1 && trimmed(lexer.fields()[0].text).empty()) continue;
      visit(lexer);
    }
  }

  /// First pass: the value of every number, and what each column holds.
  void scan() {
    for_each_line([&](const CsvLexer& lexer) {
      const auto fields = lexer.fields();
      const bool first = table_.lines.empty();
      if (first) {
        width_ = fields.size();
        seen_.resize(width_);
      }
      if (fields.size() != width_)
        lexer.fail(fields.front().at, fmt::format("{} fields, the first line has {}", fields.size(), width_));
      table_.lines.push_back(lexer.line());
      for (std::size_t c = 0; c < width_; ++c) {
        const std::string_view text = trimmed(fields[c].text);
        const Read read = read_field(text, options_.decimal);
        if (std::isinf(read.value))
          lexer.fail(fields[c].at, fmt::format("{}: \"{}\" is not a finite number",
                                               column_name({}, static_cast<std::int64_t>(c)), printable(text)));
        values_.push_back(read.value);
        if (first) {
          first_.push_back(read.kind);
          first_names_.push_back(utf8_of(text));
        } else {
          count(seen_[c], read.kind, lexer.line(), text);
        }
      }
    });
  }

  static void count(Seen& seen, Kind kind, std::int64_t line, std::string_view text) {
    const auto note = [&](std::int64_t& number, CsvPlace& place) {
      if (number++ == 0) place = {line, std::string(text.substr(0, 80))};
    };
    if (kind == Kind::number) ++seen.numbers;
    if (kind == Kind::comma_number) note(seen.commas, seen.first_comma);
    if (kind == Kind::word) note(seen.words, seen.first_word);
    if (kind == Kind::missing) note(seen.missing, seen.first_missing);
  }

  /// Fields such as 1,5 in a file that is not cut by commas are numbers, unless others are written 1.5.
  void settle_decimal() {
    if (table_.decimal != '\0') return;
    table_.decimal = '.';
    const Seen* comma = nullptr;
    for (const Seen& seen : seen_)
      if (comma == nullptr && seen.commas > 0 && seen.words == 0) comma = &seen;
    if (comma == nullptr || table_.separator == ',') return;
    CsvLexer lexer(text_, name_, table_.separator);
    while (lexer.next_line())
      for (const CsvField& field : lexer.fields()) {
        const std::string_view text = trimmed(field.text);
        if (text.find('.') == std::string_view::npos || !number_of(text)) continue;
        throw Error(ErrorCode::data,
                    fmt::format("{}: line {} has \"{}\" and line {} \"{}\"; say in data.decimal whether numbers have a "
                                "\"comma\" or a \"point\"",
                                name_, comma->first_comma.line, printable(comma->first_comma.text), lexer.line(),
                                printable(text)));
      }
    table_.decimal = ',';
    table_.guessed_decimal = true;
  }

  bool is_number(Kind kind) const {
    return kind == Kind::number || (kind == Kind::comma_number && table_.decimal == ',');
  }
  std::int64_t words_in(const Seen& seen) const { return seen.words + (table_.decimal == ',' ? 0 : seen.commas); }

  bool settle_header() const {
    if (options_.header) return *options_.header && !table_.lines.empty();
    bool any_word = false, any_number = false;
    for (std::size_t c = 0; c < width_; ++c) {
      const bool word = first_[c] != Kind::missing && !is_number(first_[c]);
      any_word = any_word || word;
      any_number = any_number || is_number(first_[c]);
      const bool numbers_below = seen_[c].numbers + seen_[c].commas > 0 && words_in(seen_[c]) == 0;
      if (word && numbers_below) return true;
    }
    return any_word && !any_number;
  }

  void take_header() {
    std::set<std::string> known;
    for (const std::string& field : first_names_) {
      std::string name = field;
      for (int copy = 2; !known.insert(name).second; ++copy) name = fmt::format("{} ({})", field, copy);
      table_.names.push_back(std::move(name));
    }
    table_.lines.erase(table_.lines.begin());
    values_.erase(values_.begin(), values_.begin() + static_cast<std::ptrdiff_t>(width_));
    has_header_ = true;
  }

  void describe_columns() {
    for (std::size_t c = 0; c < width_; ++c) {
      Seen seen = seen_[c];
      if (!has_header_) {
        Seen all;
        count(all, first_[c], table_.lines.empty() ? 1 : table_.lines.front(), first_names_[c]);
        if (all.words > 0) seen.first_word = all.first_word;
        if (all.commas > 0) seen.first_comma = all.first_comma;
        if (all.missing > 0) seen.first_missing = all.first_missing;
        seen.numbers += all.numbers, seen.commas += all.commas, seen.words += all.words, seen.missing += all.missing;
      }
      const bool comma_words = seen.commas > 0 && table_.decimal != ',';
      const bool comma_first = comma_words && (seen.words == 0 || seen.first_comma.line < seen.first_word.line);
      words_.push_back(words_in(seen) > 0);
      table_.columns.push_back({.words = {},
                                .missing = seen.missing,
                                .first_missing = seen.first_missing,
                                .first_word = comma_first ? seen.first_comma : seen.first_word,
                                .numbers = seen.numbers + (table_.decimal == ',' ? seen.commas : 0)});
    }
  }

  /// Second pass, where a column holds words: their indices.
  void read_words() {
    if (options_.as_words) {
      const std::vector<bool> wanted = options_.as_words(table_.names, static_cast<std::int64_t>(width_));
      for (std::size_t c = 0; c < width_; ++c) words_[c] = words_[c] || wanted[c];
    }
    if (std::find(words_.begin(), words_.end(), true) == words_.end()) return;
    std::vector<std::unordered_map<std::string, std::int64_t>> indices(width_);
    std::size_t row = 0;
    bool header = has_header_;
    for_each_line([&](const CsvLexer& lexer) {
      if (std::exchange(header, false)) return;
      for (std::size_t c = 0; c < width_; ++c) {
        if (!words_[c]) continue;
        const std::string_view text = trimmed(lexer.fields()[c].text);
        double& value = values_[row * width_ + c];
        if (read_field(text, table_.decimal).kind == Kind::missing) {
          value = kMissingNumber;
        } else {
          const auto next = static_cast<std::int64_t>(indices[c].size());
          value = static_cast<double>(indices[c].try_emplace(utf8_of(text), next).first->second);
        }
      }
      ++row;
    });
    for (std::size_t c = 0; c < width_; ++c)
      if (words_[c]) sort_words(c, indices[c]);
  }

  void sort_words(std::size_t c, const std::unordered_map<std::string, std::int64_t>& indices) {
    std::vector<std::string>& words = table_.columns[c].words;
    for (const auto& [word, index] : indices) words.push_back(word);
    lockstep::sort_words(words);
    std::vector<double> places(words.size());
    for (std::size_t k = 0; k < words.size(); ++k)
      places[static_cast<std::size_t>(indices.at(words[k]))] = static_cast<double>(k);
    for (std::size_t i = c; i < values_.size(); i += width_)
      if (!std::isnan(values_[i])) values_[i] = places[static_cast<std::size_t>(values_[i])];
  }

  std::string_view text_, name_;
  const CsvOptions& options_;
  CsvTable table_;
  std::size_t width_ = 0;
  std::vector<double> values_;
  std::vector<Kind> first_;               // the fields of the first line
  std::vector<std::string> first_names_;  // their texts
  std::vector<Seen> seen_;
  std::vector<bool> words_;
  bool has_header_ = false;
};

}  // namespace

CsvTable parse_csv(std::span<const std::byte> bytes, std::string_view name, const CsvOptions& options) {
  return CsvParser(bytes, name, options).parse();
}

std::vector<std::byte> read_csv_bytes(const std::filesystem::path& path) {
  return path == "-" ? read_standard_input() : read_data_file(path);
}

CsvTable read_csv(const std::filesystem::path& path, const CsvOptions& options) {
  return parse_csv(read_csv_bytes(path), path == "-" ? "standard input" : path.string(), options);
}

std::string column_name(std::span<const std::string> names, std::int64_t column) {
  if (names.empty()) return fmt::format("column {}", column);
  return fmt::format("column {} ({})", column, printable(names[static_cast<std::size_t>(column)]));
}

}  // namespace lockstep
