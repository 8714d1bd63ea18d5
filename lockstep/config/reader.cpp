#include "lockstep/config/reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lockstep/config/suggest.hpp"
#include "lockstep/core/error.hpp"

namespace lockstep {

namespace {

[[noreturn]] void fail_type(const Value& value, std::string_view path, std::string_view wanted) {
  fail_at(value, path, fmt::format("must be {}, not {}: {}", wanted, type_in_words(value), excerpt(value)));
}

bool contains(NumberRange range, double number) {
  if (!std::isfinite(number)) return false;
  if (number < range.min || (range.open_min && number == range.min)) return false;
  return number < range.max || (number == range.max && !range.open_max);
}

}  // namespace

std::string in_words(IntRange range) {
  if (range.max == std::numeric_limits<std::int64_t>::max()) return fmt::format("at least {}", range.min);
  return fmt::format("from {} to {}", range.min, range.max);
}

std::string in_words(NumberRange range) {
  std::string low = fmt::format("{} {}", range.open_min ? "above" : "at least", range.min);
  if (std::isinf(range.max)) return low;
  return fmt::format("{} and {} {}", low, range.open_max ? "below" : "at most", range.max);
}

bool as_bool(const Value& value, std::string_view path) {
  if (const bool* b = std::get_if<bool>(&value.data)) return *b;
  fail_type(value, path, "true or false");
}

std::int64_t as_integer(const Value& value, std::string_view path, IntRange range) {
  const auto* integer = std::get_if<std::int64_t>(&value.data);
  if (integer == nullptr) fail_type(value, path, fmt::format("a whole number {}", in_words(range)));
  if (*integer < range.min || *integer > range.max)
    fail_at(value, path, fmt::format("must be {}, got {}", in_words(range), *integer));
  return *integer;
}

double as_number(const Value& value, std::string_view path, NumberRange range) {
  double number = 0;
  if (const auto* integer = std::get_if<std::int64_t>(&value.data))
    number = static_cast<double>(*integer);
  else if (const auto* real = std::get_if<double>(&value.data))
    number = *real;
  else
    fail_type(value, path, fmt::format("a number {}", in_words(range)));
  if (!contains(range, number)) fail_at(value, path, fmt::format("must be {}, got {}", in_words(range), number));
  return number;
}

std::int64_t as_integer_or_word(const Value& value, std::string_view path, std::string_view word, IntRange range) {
  if (value.string() == nullptr) return as_integer(value, path, range);
  if (*value.string() != word)
    fail_at(value, path,
            fmt::format("must be \"{}\" or a whole number from {} to {}, got {}", word, range.min, range.max,
                        excerpt(value)));
  return 0;
}

const std::string& as_string(const Value& value, std::string_view path) {
  if (const std::string* s = value.string()) return *s;
  fail_type(value, path, "a string");
}

const ValueArray& as_array(const Value& value, std::string_view path) {
  if (const ValueArray* a = value.array()) return *a;
  fail_type(value, path, "a list");
}

std::size_t as_choice(const Value& value, std::string_view path, std::span<const std::string> names) {
  const std::string* name = value.string();
  if (name == nullptr) fail_type(value, path, fmt::format("one of {}", fmt::join(names, ", ")));
  const auto found = std::find(names.begin(), names.end(), *name);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  fail_at(value, path, fmt::format("unknown name {}{}", excerpt(value), suggestion(*name, names)));
}

TableReader::TableReader(const Value& value, std::string path, std::vector<std::string> known,
                         std::span<const std::string> elsewhere)
    : value_(&value), path_(std::move(path)), known_(std::move(known)) {
  if (value.table() == nullptr) fail_type(value, path_, fmt::format("a table with {}", fmt::join(known_, ", ")));
  for (const Entry& entry : *value.table()) {
    if (std::find(known_.begin(), known_.end(), entry.key) != known_.end()) continue;
    const std::string full = path_of(entry.key);
    if (const auto near = nearest(entry.key, known_))
      fail_at(entry.value, full, fmt::format("unknown key; did you mean {}?", path_of(*near)));
    for (const std::string& other : elsewhere) {
      const std::string last = other.substr(other.rfind('.') + 1);
      if (nearest(entry.key, std::span(&last, 1)))
        fail_at(entry.value, full, fmt::format("unknown key; did you mean {}?", other));
    }
    fail_at(entry.value, full,
            fmt::format("unknown key; {} has {}", path_.empty() ? "this file" : path_, fmt::join(known_, ", ")));
  }
}

const Value* TableReader::find(std::string_view key) const {
  if (std::find(known_.begin(), known_.end(), key) == known_.end())
    throw Error(ErrorCode::bug, fmt::format("the key {} is read but not known", path_of(key)));
  return value_->find(key);
}

std::string TableReader::path_of(std::string_view key) const {
  return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
}

const Value& TableReader::require(std::string_view key, std::string_view hint) const {
  if (const Value* found = find(key)) return *found;
  fail_at(*value_, path_of(key), fmt::format("missing; {}", hint));
}

void TableReader::fail(std::string_view key, std::string_view message) const {
  const Value* found = find(key);
  fail_at(found != nullptr ? *found : *value_, path_of(key), message);
}

std::optional<std::size_t> TableReader::choice(std::string_view key, std::span<const std::string> names) const {
  if (const Value* found = find(key)) return as_choice(*found, path_of(key), names);
  return std::nullopt;
}

NamedChoice as_named(const Value& value, std::string_view path, std::span<const std::string> names) {
  if (value.string() != nullptr) {
    const std::size_t index = as_choice(value, path, names);
    return {index, Value{ValueTable{{"name", value}}, value.origin}};
  }
  if (value.table() == nullptr) fail_type(value, path, fmt::format("one of {}", fmt::join(names, ", ")));
  const Value* name = value.find("name");
  if (name == nullptr)
    fail_at(value, fmt::format("{}.name", path), fmt::format("missing; one of {}", fmt::join(names, ", ")));
  return {as_choice(*name, fmt::format("{}.name", path), names), value};
}

}  // namespace lockstep
