#pragma once
// TOML text to a tree of values. The text may come from anyone: size and depth are bounded before it is parsed.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "lockstep/config/value.hpp"

namespace lockstep {

/// The table of a document. `name` (of the file) begins every message: "moons.toml:12: ...". Error(usage) where the
/// text is no TOML.
Value parse_toml(std::string_view text, std::string_view name);

/// One value as it stands after an equals sign: `3`, `"adam"`, `{name = "adam"}`. A text that is no TOML value and
/// does not begin like one is taken as a string, and so is one that looks like a date: `fashion-mnist`, `784-10`.
/// `origin` begins every message and becomes the origin of the value.
Value parse_toml_value(std::string_view text, std::string_view origin);

/// The text between double quotes, with what needs it escaped: TOML that parses back to the same string.
std::string toml_quote(std::string_view text);

// What must be refused before toml++ sees it: text that would exhaust memory or stack, or that version 3.3 has
// undefined behaviour for.

inline constexpr std::size_t kMaxConfigBytes = 1 << 20;

struct SyntaxError {
  std::int64_t line = 1, column = 0;  // column 0: not known
  std::string message;
};

/// Too long; a zero byte; a key of more than 64 parts (each is a table in a table, which the parser destroys
/// recursively); a date with more underscores than the parser can go back over. Nothing: the parser may have it.
std::optional<SyntaxError> find_danger(std::string_view text);

}  // namespace lockstep
