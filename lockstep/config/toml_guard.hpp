#pragma once
// What must be refused before toml++ sees it: text that would exhaust memory or stack, or that version 3.3 has
// undefined behaviour for.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lockstep {

inline constexpr std::size_t kMaxConfigBytes = 1 << 20;

struct SyntaxError {
  std::int64_t line = 1, column = 0;  // column 0: not known
  std::string message;
};

/// Too long; a zero byte; a key of more than 64 parts (each is a table in a table, which the parser destroys
/// recursively); a date with more underscores than the parser can go back over. Nothing: the parser may have it.
std::optional<SyntaxError> find_danger(std::string_view text);

}  // namespace lockstep
