#pragma once
// Typed, range-checked reading of a tree of values. Every refusal is one line that begins with file and line (or the
// --set) and the key, and says what was expected and what was found.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lockstep/config/value.hpp"
#include "lockstep/core/fields.hpp"

namespace lockstep {

/// "from 1 to 1024", "above 0 and below 1": for messages and the documentation.
std::string in_words(IntRange range);
std::string in_words(NumberRange range);

/// Conversions of one value; `path` ("train.epochs") names it in messages.
bool as_bool(const Value& value, std::string_view path);
std::int64_t as_integer(const Value& value, std::string_view path, IntRange range);
double as_number(const Value& value, std::string_view path, NumberRange range);
const std::string& as_string(const Value& value, std::string_view path);
const ValueArray& as_array(const Value& value, std::string_view path);
/// The index of the name; an unknown name is refused with the nearest known one.
std::size_t as_choice(const Value& value, std::string_view path, std::span<const std::string> names);

/// A table with a fixed set of keys.
class TableReader {
 public:
  /// Error(usage) when `value` is no table or has a key that is not `known`; the message names the nearest known key.
  /// `elsewhere`: full paths of keys of other tables, suggested when none of this one is near.
  TableReader(const Value& value, std::string path, std::vector<std::string> known,
              std::span<const std::string> elsewhere = {});

  /// The value of a key; null when it is absent. The key must be a known one.
  const Value* find(std::string_view key) const;
  /// "train.optimizer.lr"
  std::string path_of(std::string_view key) const;
  const std::string& path() const { return path_; }
  /// As find, but Error(usage) when the key is absent: "<path>: missing; <hint>".
  const Value& require(std::string_view key, std::string_view hint) const;
  /// Throws Error(usage) about the key.
  [[noreturn]] void fail(std::string_view key, std::string_view message) const;

  /// The index of the chosen name.
  std::optional<std::size_t> choice(std::string_view key, std::span<const std::string> names) const;

 private:
  const Value* value_;
  std::string path_;
  std::vector<std::string> known_;
};

/// A setting with a name and options: "adam" or {name = "adam", lr = 0.001}. A bare name becomes a table of that name
/// alone. Error(usage) when it is neither, or the name is unknown.
struct NamedChoice {
  std::size_t index = 0;  // into the names
  Value table;
};
NamedChoice as_named(const Value& value, std::string_view path, std::span<const std::string> names);

}  // namespace lockstep
