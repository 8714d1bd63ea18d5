#include "lockstep/config/toml_guard.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

namespace lockstep {

namespace {

constexpr int kMaxDottedKeys = 64;

/// Walks over a text and gives what stands outside strings and comments: right as long as the text is TOML, which is
/// enough, since the parser stops where it is not.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  /// The next character outside strings and comments; a line break always counts, a quote stands for its string.
  /// 0 at the end.
  char next() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      const bool outside = quote_.empty() && !comment_;
      if (c == '\n') ++line_;
      if (outside && (c == '"' || c == '\''))
        open(c);
      else
        advance(c);
      if (c == '\n' || outside) return c;
    }
    return 0;
  }
  std::int64_t line() const { return line_; }

 private:
  void open(char c) {
    const std::string_view three = text_.substr(at_, 3);
    quote_ = three.size() == 3 && three[1] == c && three[2] == c ? three : three.substr(0, 1);
    at_ += quote_.size();
  }

  void advance(char c) {
    if (c == '\n') {
      comment_ = false;
      if (quote_.size() == 1) quote_ = {};
    } else if (quote_.empty()) {
      comment_ = comment_ || c == '#';
    } else if (c == '\\' && quote_[0] == '"') {
      if (at_ + 1 < text_.size() && text_[at_ + 1] != '\n') ++at_;  // what is escaped closes nothing
    } else if (text_.substr(at_).starts_with(quote_)) {
      at_ += quote_.size() - 1;
      quote_ = {};
    }
    ++at_;
  }

  std::string_view text_, quote_{};  // quote_: what closes the string at hand
  std::size_t at_ = 0;
  std::int64_t line_ = 1;
  bool comment_ = false;
};

/// The place of a date with very many underscores, a space and a digit behind it: there the parser reads further ahead,
/// for the time of day, than it can go back (127 characters), and finds out in a function that may not throw.
std::size_t find_endless_date(std::string_view text) {
  constexpr std::ptrdiff_t kDateLength = 10, kManyUnderscores = 100;
  for (std::size_t at = text.find(' '); at != std::string_view::npos; at = text.find(' ', at + 1)) {
    if (at + 1 == text.size() || text[at + 1] < '0' || text[at + 1] > '9') continue;
    const std::string_view before = text.substr(0, at);
    const std::string_view word = before.substr(before.find_last_of(" \t\r\n,#]}") + 1);
    const auto underscores = std::count(word.begin(), word.end(), '_');
    if (underscores >= kManyUnderscores && std::ssize(word) - underscores >= kDateLength) return at;
  }
  return std::string_view::npos;
}

std::int64_t line_of(std::string_view text, std::size_t at) {
  return 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
}

}  // namespace

std::optional<SyntaxError> find_danger(std::string_view text) {
  if (text.size() > kMaxConfigBytes)
    return SyntaxError{
        1, 0,
        fmt::format("{} bytes: a configuration has at most {}; is this the right file?", text.size(), kMaxConfigBytes)};
  if (const std::size_t zero = text.find('\0'); zero != std::string_view::npos)
    return SyntaxError{line_of(text, zero), 0, "a zero byte: this is no text; is this the right file?"};
  if (const std::size_t date = find_endless_date(text); date != std::string_view::npos)
    return SyntaxError{line_of(text, date), 0, "a value with 100 underscores or more"};
  Scanner scanner(text);
  int dots = 0;
  while (const char c = scanner.next()) {
    if (std::string_view("\n=,[]{}#").find(c) != std::string_view::npos) dots = 0;
    if (c == '.' && ++dots > kMaxDottedKeys)
      return SyntaxError{scanner.line(), 0, fmt::format("a key of more than {} parts", kMaxDottedKeys)};
  }
  return std::nullopt;
}

}  // namespace lockstep
