#include "lockstep/data/formats/csv_lexer.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "lockstep/core/error.hpp"

namespace lockstep {

namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::array<char, 4> kSeparators = {',', ';', '\t', '|'};

std::string_view without_mark(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  return text;
}

using Counts = std::array<std::int64_t, kSeparators.size()>;

/// How often each separator stands in a line, outside quotes.
Counts counts_of(std::string_view line) {
  Counts counts{};
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') quoted = !quoted;
    for (std::size_t s = 0; s < kSeparators.size(); ++s)
      if (c == kSeparators[s] && !quoted) ++counts[s];
  }
  return counts;
}

/// Whether every piece between semicolons has one comma at most, among digits.
bool has_comma_numbers(std::string_view line) {
  int commas = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == ';') commas = 0;
    if (line[i] != ',') continue;
    const auto digit = [&](std::size_t at) { return at < line.size() && line[at] >= '0' && line[at] <= '9'; };
    if (++commas > 1 || i == 0 || !digit(i - 1) || !digit(i + 1)) return false;
  }
  return true;
}

/// The bytes of the UTF-8 character that begins here; 0: none does.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x80) return 1;
  const std::size_t length = byte(0) >= 0xF0 ? 4 : byte(0) >= 0xE0 ? 3 : 2;
  if (byte(0) < 0xC2 || byte(0) > 0xF4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xC0) != 0x80) return 0;
  const bool overlong = (byte(0) == 0xE0 && byte(1) < 0xA0) || (byte(0) == 0xF0 && byte(1) < 0x90);
  const bool outside = (byte(0) == 0xED && byte(1) > 0x9F) || (byte(0) == 0xF4 && byte(1) > 0x8F);
  return overlong || outside ? 0 : length;
}

}  // namespace

char guess_separator(std::string_view text) {
  constexpr int kLines = 10;
  text = without_mark(text);
  Counts first{};
  std::array<bool, kSeparators.size()> equal{};
  std::string_view first_line;
  for (int line = 0; line < kLines && !text.empty(); ++line) {
    const std::string_view one = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), one.size() + 1));
    const Counts counts = counts_of(one);
    if (line == 0) {
      first = counts;
      first_line = one;
      for (std::size_t s = 0; s < first.size(); ++s) equal[s] = counts[s] > 0;
    }
    if (one.empty() || one == "\r") continue;
    for (std::size_t s = 0; s < first.size(); ++s) equal[s] = equal[s] && counts[s] == first[s];
  }
  constexpr std::size_t kComma = 0, kSemicolon = 1;
  if (equal[kComma] && equal[kSemicolon] && has_comma_numbers(first_line)) return ';';
  const bool some_equal = std::find(equal.begin(), equal.end(), true) != equal.end();
  std::size_t best = 0;
  for (std::size_t s = 1; s < first.size(); ++s) {
    const bool allowed = !some_equal || equal[s], best_allowed = !some_equal || equal[best];
    if (allowed && (!best_allowed || first[s] > first[best])) best = s;
  }
  return kSeparators[best];
}

std::string utf8_of(std::string_view text) {
  bool valid = true;
  for (std::size_t i = 0; i < text.size() && valid;) {
    const std::size_t length = utf8_length(text.substr(i));
    valid = length > 0;
    i += length;
  }
  if (valid) return std::string(text);
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80) out.push_back(static_cast<char>(0xC0 | byte >> 6));
    out.push_back(static_cast<char>(byte < 0x80 ? byte : 0x80 | (byte & 0x3F)));
  }
  return out;
}

CsvLexer::CsvLexer(std::string_view text, std::string_view name, char separator)
    : text_(text), name_(name), separator_(separator), at_(text.size() - without_mark(text).size()) {
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF"))
    throw Error(ErrorCode::data, fmt::format("{}: text of two bytes per letter (UTF-16); save it as UTF-8", name));
}

bool CsvLexer::next_line() {
  if (text_.find_first_not_of("\r\n", at_) == std::string_view::npos) return false;
  line_ = next_line_;
  count_ = 0;
  do {
    if (count_ == fields_.size()) fields_.emplace_back();
    read_field(fields_[count_++]);
  } while (take_separator());
  if (at_ < text_.size() && text_[at_] == '\r') ++at_;
  if (at_ < text_.size()) {
    if (text_[at_] != '\n') fail(at_, "text behind a closing quote, or a stray carriage return");
    ++at_;
    ++next_line_;
  }
  return true;
}

void CsvLexer::fail(std::size_t at, std::string_view what) const {
  throw Error(ErrorCode::data, fmt::format("{}: line {}, byte {}: {}", name_, line_, at, what));
}

bool CsvLexer::take_separator() {
  if (at_ >= text_.size() || text_[at_] != separator_) return false;
  ++at_;
  return true;
}

void CsvLexer::read_field(CsvField& field) {
  if (at_ < text_.size() && text_[at_] == '"') return read_quoted(field);
  const std::size_t start = at_;
  while (at_ < text_.size() && text_[at_] != separator_ && text_[at_] != '\n' && text_[at_] != '\r') ++at_;
  field.text.assign(text_.substr(start, at_ - start));
  field.at = start;
}

void CsvLexer::read_quoted(CsvField& field) {
  field.text.clear();
  field.at = at_++;
  while (true) {
    if (at_ >= text_.size()) fail(field.at, "a quoted field without its closing quote");
    if (text_[at_] == '"') {
      ++at_;
      if (at_ >= text_.size() || text_[at_] != '"') return;  // two quotes stand for one
    }
    if (text_[at_] == '\n') ++next_line_;
    field.text.push_back(text_[at_++]);
  }
}

}  // namespace lockstep
