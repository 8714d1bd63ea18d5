#pragma once
// Words of messages, and words of files, that several places need.

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lockstep {

/// "1 thread", "2 threads", "1 class", "0 classes": `plural` where it is not the noun with an s.
std::string count_of(std::int64_t number, std::string_view noun, std::string_view plural = {});

/// Text from a file or the command line as one line that cannot steer a terminal: control characters are escaped.
std::string one_line(std::string_view text);

/// Without the spaces around it.
std::string_view trimmed(std::string_view text);
/// With lower-case letters for A to Z.
std::string lower_case(std::string_view text);

/// The number that the whole text is; nothing for any other text.
template <class T>
std::optional<T> parse_number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

}  // namespace lockstep
