#pragma once
// A configuration as a tree of values, each of which knows where it was written. The parser of TOML and the options
// of the command line both end here, so the rest of the folder knows one tree and no library.

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace lockstep {

struct Value;
struct Entry;
using ValueArray = std::vector<Value>;
using ValueTable = std::vector<Entry>;  // in any order; keys are unique

/// A date or a time: valid TOML that no key of ours takes. Holds its text.
struct DateText {
  std::string text;
};

struct Value {
  using Data = std::variant<bool, std::int64_t, double, std::string, ValueArray, ValueTable, DateText>;

  Value();
  explicit Value(Data d, std::string o = {});
  // Defined where Entry is complete: its destructor is part of these.
  Value(const Value&);
  Value(Value&&) noexcept;
  Value& operator=(const Value&);
  Value& operator=(Value&&) noexcept;
  ~Value();

  Data data;
  std::string origin;  // "moons.toml:12" or "--set train.epochs=0": how messages begin

  const ValueTable* table() const { return std::get_if<ValueTable>(&data); }
  ValueTable* table() { return std::get_if<ValueTable>(&data); }
  const ValueArray* array() const { return std::get_if<ValueArray>(&data); }
  const std::string* string() const { return std::get_if<std::string>(&data); }
  /// The value of a key of this table; null when there is none or this is no table.
  const Value* find(std::string_view key) const;
  Value* find(std::string_view key);
};

struct Entry {
  std::string key;
  Value value;
};

/// "a whole number", "a string", "a table", ...: for messages.
std::string_view type_in_words(const Value& value);

/// The value as it might have been written, cut to a readable length: for messages.
std::string excerpt(const Value& value);

/// Throws Error(usage): "<origin>: <path>: <message>".
[[noreturn]] void fail_at(const Value& value, std::string_view path, std::string_view message);

}  // namespace lockstep
