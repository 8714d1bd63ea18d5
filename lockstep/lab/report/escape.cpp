#include "lockstep/lab/report/escape.hpp"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

namespace lockstep::report {

namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";
constexpr char32_t kInvalid = 0xffffffff;

struct Decoded {
  char32_t code;
  std::size_t bytes;
};

/// One character of UTF-8, as the standard has it: no overlong forms, no surrogates, nothing above U+10FFFF.
Decoded decode(std::string_view text) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = at(0);
  if (first < 0x80) return {first, 1};
  const std::size_t bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < bytes) return {kInvalid, 1};
  char32_t code = first & (0xff >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((at(i) & 0xc0) != 0x80) return {kInvalid, 1};
    code = code << 6 | (at(i) & 0x3f);
  }
  constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool wrong = code < kLeast[bytes] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff);
  return {wrong ? kInvalid : code, wrong ? 1 : bytes};
}

bool is_control(char32_t code) { return code == kInvalid || code < 0x20 || (code >= 0x7f && code < 0xa0); }

bool turns_direction(char32_t code) {
  return (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) || code == 0x200e || code == 0x200f;
}

bool ends_address(char c) {
  return c == ' ' || c == '\n' || c == '"' || c == '\'' || c == '<' || c == '>' || c == '`' || c == '*' || c == ')';
}

/// The address at the beginning of the text, without the full stop of its sentence.
std::string_view leading_address(std::string_view text) {
  if (!text.starts_with("https://")) return {};
  const auto end = std::find_if(text.begin(), text.end(), ends_address);
  std::string_view found = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  while (!found.empty() && std::string_view(".,;:").find(found.back()) != std::string_view::npos)
    found.remove_suffix(1);
  return found.size() > 8 ? found : std::string_view{};
}

/// What stands between two `mark`s at the beginning of the text; empty where there is no pair.
std::string_view between(std::string_view text, std::string_view mark) {
  if (!text.starts_with(mark)) return {};
  const auto end = text.find(mark, mark.size());
  return end == std::string_view::npos ? std::string_view{} : text.substr(mark.size(), end - mark.size());
}

}  // namespace

std::string clean(std::string_view text, bool keep_lines) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Decoded next = decode(text);
    const std::string_view bytes = text.substr(0, next.bytes);
    text.remove_prefix(next.bytes);
    if (next.code == '\n' || next.code == '\t')
      out += keep_lines ? bytes : " ";
    else if (is_control(next.code) || turns_direction(next.code))
      out += kReplacement;
    else
      out += bytes;
  }
  return out;
}

std::string escape_html(std::string_view text, bool keep_lines) {
  constexpr std::string_view kSpecial = "&<>\"'";
  constexpr std::string_view kEntities[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
  std::string out;
  for (const char c : clean(text, keep_lines)) {
    const std::size_t special = kSpecial.find(c);
    if (special == std::string_view::npos)
      out += c;
    else
      out += kEntities[special];
  }
  return out;
}

std::string running_html(std::string_view text) {
  std::string out;
  std::size_t plain = 0;
  const auto flush = [&](std::size_t end, std::size_t next) {
    out += escape_html(text.substr(plain, end - plain));
    plain = next;
  };
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    if (const auto code = between(rest, "`"); !code.empty()) {
      flush(at, at + code.size() + 2);
      out += "<code>" + escape_html(code) + "</code>";
    } else if (const auto strong = between(rest, "**"); !strong.empty()) {
      flush(at, at + strong.size() + 4);
      out += "<strong>" + escape_html(strong) + "</strong>";
    } else if (const auto address = leading_address(rest); !address.empty()) {
      flush(at, at + address.size());
      out += fmt::format("<a href=\"{0}\" rel=\"noreferrer\">{0}</a>", escape_html(address));
    }
    at = std::max(at + 1, plain);
  }
  flush(text.size(), text.size());
  return out;
}

std::string running_text(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    if (const auto strong = between(rest, "**"); !strong.empty()) {
      out += strong;
      at += strong.size() + 4;
    } else {
      out += text[at++];
    }
  }
  return clean(out);
}

}  // namespace lockstep::report
