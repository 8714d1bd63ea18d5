#include "lockstep/config/toml.hpp"

#define TOML_ENABLE_FORMATTERS 0
#include <fmt/format.h>
#include <toml++/toml.h>

#include <sstream>

#include "lockstep/core/error.hpp"

namespace lockstep {

namespace {

// Each part of a dotted key is a level of tables, and the parser destroys tables recursively.
constexpr int kMaxDottedKeys = 64;

[[noreturn]] void fail_line(std::string_view name, std::int64_t line, std::string_view message) {
  throw Error(ExitCode::usage, fmt::format("{}:{}: {}", name, line, message));
}

/// Refuses what would exhaust memory or stack before the parser sees it. Counts the dots between the characters that
/// end a key; quoted parts do not count.
void check_bounds(std::string_view text, std::string_view name) {
  if (text.size() > kMaxConfigBytes)
    throw Error(ExitCode::usage, fmt::format("{}: {} bytes: a configuration has at most {}; is this the right file?",
                                             name, text.size(), kMaxConfigBytes));
  int dots = 0;
  std::int64_t line = 1;
  char quote = 0;
  bool escaped = false;
  for (const char c : text) {
    if (c == '\n') ++line, quote = 0, dots = 0;
    if (c == 0) fail_line(name, line, "a zero byte: this is no text; is this the right file?");
    if (quote != 0) {
      if (c == quote && !escaped) quote = 0;
      escaped = quote == '"' && c == '\\' && !escaped;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '.') {
      if (++dots > kMaxDottedKeys) fail_line(name, line, fmt::format("a key of more than {} parts", kMaxDottedKeys));
    } else if (std::string_view("=,[]{}#").find(c) != std::string_view::npos) {
      dots = 0;
    }
  }
}

struct Converter {
  /// The origin of what stands on `line`.
  std::string origin(const toml::node& node) const {
    return per_line ? fmt::format("{}:{}", name, node.source().begin.line) : name;
  }

  Value convert(const toml::node& node) const {
    Value value;
    value.origin = origin(node);
    switch (node.type()) {
      case toml::node_type::boolean:
        value.data = node.as_boolean()->get();
        break;
      case toml::node_type::integer:
        value.data = node.as_integer()->get();
        break;
      case toml::node_type::floating_point:
        value.data = node.as_floating_point()->get();
        break;
      case toml::node_type::string:
        value.data = node.as_string()->get();
        break;
      case toml::node_type::array: {
        ValueArray array;
        for (const toml::node& element : *node.as_array()) array.push_back(convert(element));
        value.data = std::move(array);
        break;
      }
      case toml::node_type::table: {
        ValueTable table;
        for (const auto& [key, element] : *node.as_table()) {
          Value converted = convert(element);
          // A table's own position is its header or brace; the key is where a reader looks.
          if (per_line) converted.origin = fmt::format("{}:{}", name, key.source().begin.line);
          table.push_back({std::string(key.str()), std::move(converted)});
        }
        value.data = std::move(table);
        break;
      }
      default: {
        std::ostringstream text;
        if (const auto* date = node.as_date())
          text << date->get();
        else if (const auto* time = node.as_time())
          text << time->get();
        else
          text << node.as_date_time()->get();
        value.data = DateText{text.str()};
      }
    }
    return value;
  }

  std::string name;
  bool per_line = true;
};

}  // namespace

Value parse_toml(std::string_view text, std::string_view name) {
  check_bounds(text, name);
  try {
    const toml::table table = toml::parse(text, name);
    Value root = Converter{std::string(name), true}.convert(table);
    root.origin = name;
    return root;
  } catch (const toml::parse_error& error) {
    throw Error(ExitCode::usage, fmt::format("{}:{}:{}: {}", name, error.source().begin.line,
                                             error.source().begin.column, error.description()));
  }
}

Value parse_toml_value(std::string_view text, std::string_view origin) {
  check_bounds(text, origin);
  if (text.empty()) throw Error(ExitCode::usage, fmt::format("{}: a value is missing after the equals sign", origin));
  const bool begins_like_a_value = std::string_view("[{\"'").find(text[0]) != std::string_view::npos;
  try {
    const toml::table table = toml::parse(fmt::format("value = {}", text));
    if (table.size() != 1) throw Error(ExitCode::usage, fmt::format("{}: more than one value", origin));
    Value value = Converter{std::string(origin), false}.convert(*table.get("value"));
    if (!std::holds_alternative<DateText>(value.data)) return value;
  } catch (const toml::parse_error& error) {
    if (begins_like_a_value) throw Error(ExitCode::usage, fmt::format("{}: {}", origin, error.description()));
  }
  try {
    // A bare word is a string, but it must be one that a configuration file can hold: valid UTF-8.
    static_cast<void>(toml::parse(fmt::format("value = {}", toml_quote(text))));
  } catch (const toml::parse_error&) {
    throw Error(ExitCode::usage, fmt::format("{}: the value is not UTF-8 text", origin));
  }
  return Value{std::string(text), std::string(origin)};
}

std::string toml_quote(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      out += fmt::format("\\{}", c);
    else if (byte < 0x20 || byte == 0x7f)
      out += fmt::format("\\u{:04x}", byte);
    else
      out += c;
  }
  return out + "\"";
}

}  // namespace lockstep
