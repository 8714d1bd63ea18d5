#pragma once
// Typed, range-checked reading of a tree of values, and of whole records by their lists of fields (core/fields.hpp):
// internal to this folder. Every refusal is one line that begins with file and line (or the --set) and the key, and
// says what was expected and what was found.

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "lockstep/config/sections.hpp"
#include "lockstep/config/value.hpp"
#include "lockstep/core/fields.hpp"
#include "lockstep/data/source.hpp"
#include "lockstep/nn/layers.hpp"

namespace lockstep {

/// "from 1 to 1024", "above 0 and below 1": for messages and the documentation.
std::string in_words(IntRange range);
std::string in_words(NumberRange range);

/// Conversions of one value; `path` ("train.epochs") names it in messages.
bool as_bool(const Value& value, std::string_view path);
std::int64_t as_integer(const Value& value, std::string_view path, IntRange range);
double as_number(const Value& value, std::string_view path, NumberRange range);
/// A number, or the word that stands for 0.
std::int64_t as_integer_or_word(const Value& value, std::string_view path, std::string_view word, IntRange range);
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

/// Where a value stands: its path for messages ("model.layers[2].linear.out"), and how many residual blocks are around.
struct Place {
  std::string path;
  int depth = 0;

  Place at(std::string_view key) const { return {fmt::format("{}.{}", path, key), depth}; }
};

/// One value of each type that a field can have. A field of another type does not compile.
inline void read_value(const Value& value, const Place& place, AnyValue, bool& out) {
  out = as_bool(value, place.path);
}
inline void read_value(const Value& value, const Place& place, AnyValue, std::optional<bool>& out) {
  out = as_bool(value, place.path);
}
template <std::integral Int>
void read_value(const Value& value, const Place& place, IntRange range, Int& out) {
  out = static_cast<Int>(as_integer(value, place.path, range));
}
inline void read_value(const Value& value, const Place& place, NumberRange range, double& out) {
  out = as_number(value, place.path, range);
}
inline void read_value(const Value& value, const Place& place, AnyValue, std::string& out) {
  out = as_string(value, place.path);
}
template <class Enum>
requires std::is_enum_v<Enum>
void read_value(const Value& value, const Place& place, AnyValue, Enum& out) {
  out = static_cast<Enum>(as_choice(value, place.path, names_of<Enum>()));
}
void read_value(const Value& value, const Place& place, IntRange range, Extent& out);
void read_value(const Value& value, const Place& place, IntRange range, std::optional<Extent>& out);
void read_value(const Value& value, const Place& place, AnyValue, std::optional<Init>& out);
void read_value(const Value& value, const Place& place, AnyValue, std::vector<LayerSpec>& out);

void read_value(const Value& value, const Place& place, AnyValue, std::vector<std::int64_t>& out);
void read_value(const Value& value, const Place& place, AnyValue, ClassWeights& out);
void read_value(const Value& value, const Place& place, AnyValue, std::vector<std::string>& out);
void read_value(const Value& value, const Place& place, AnyValue, std::vector<Metric>& out);
void read_value(const Value& value, const Place& place, AnyValue, std::optional<EarlyStopping>& out);
void read_value(const Value& value, const Place& place, AnyValue, ResizeConfig& out);
void read_value(const Value& value, const Place& place, AnyValue, SplitConfig& out);
void read_value(const Value& value, const Place& place, AnyValue, AugmentConfig& out);
void read_value(const Value& value, const Place& place, CountOrFraction, double& out);
inline void read_value(const Value& value, const Place& place, OneOf names, std::string& out) {
  out = names.names()[as_choice(value, place.path, names.names())];
}
inline void read_value(const Value& value, const Place& place, TwoWords words, bool& out) {
  out = as_choice(value, place.path, std::vector<std::string>{words.no, words.yes}) == 1;
}
inline void read_value(const Value& value, const Place& place, TextOrIndex text, std::string& out) {
  const bool index = std::holds_alternative<std::int64_t>(value.data);
  out = index ? std::to_string(as_integer(value, place.path, text.range)) : as_string(value, place.path);
}

void read_value(const Value& value, const Place& place, TextOrIndex text, std::vector<std::string>& out);

/// What is wrong with a required value that is empty.
inline std::string empty_fault(const std::string&, const char* hint) { return fmt::format("is empty; {}", hint); }
inline std::string empty_fault(const std::vector<LayerSpec>&, const char*) { return "has no layers"; }
inline std::string empty_fault(const std::vector<std::int64_t>&, const char*) { return "has no numbers"; }
inline std::string empty_fault(const std::vector<std::string>&, const char*) { return "has no names"; }
inline std::string empty_fault(const std::vector<Metric>&, const char*) { return "has no metrics"; }

/// Reads one field, where the table has it. `name`: what the record is called in hints.
template <class Record, class Each>
void read_field(const TableReader& table, const Place& place, const char* name, const Each& each, Record& record) {
  const Value* value = each.hint == nullptr ? table.find(each.name)
                                            : &table.require(each.name, fmt::format(fmt::runtime(each.hint), name));
  if (value == nullptr) return;
  auto& out = each.of(record);
  const Place inner{table.path_of(each.name), place.depth};
  if constexpr (std::is_same_v<decltype(each.range), IntRange> && std::is_same_v<decltype(out), std::int64_t&>)
    if (each.zero_word != nullptr) out = as_integer_or_word(*value, inner.path, each.zero_word, each.range);
  if (each.zero_word == nullptr) read_value(*value, inner, each.range, out);
  if constexpr (requires { out.empty(); })
    if (each.hint != nullptr && out.empty()) table.fail(each.name, empty_fault(out, each.hint));
  if (const std::string why = each.fault == nullptr ? "" : each.fault(record); !why.empty()) table.fail(each.name, why);
}

template <class Record, class Fields>
void read_fields(const TableReader& table, const Place& place, const char* name, const Fields& fields, Record& record) {
  for_each_in(fields, [&](const auto& each) {
    if (each.belongs_to(record)) read_field(table, place, name, each, record);
  });
}

/// A section of the configuration: a table of these fields.
template <class Record, class Fields>
void read_section(const Value& section, const char* name, const Fields& fields, Record& record) {
  read_fields(TableReader(section, name, field_names(record, fields), all_keys()), {name}, name, fields, record);
}

/// A table of the record's fields, or the value of its main field alone.
template <class Record>
void read_record(const Value& value, const Place& place, const char* name, Record& record) {
  constexpr auto kFields = Record::fields();
  if (value.table() == nullptr) {
    bool read = false;
    for_each_in(kFields, [&](const auto& each) {
      if (each.is_shorthand) read_value(value, place, each.range, each.of(record)), read = true;
    });
    if (read) return;
  }
  read_fields(TableReader(value, place.path, field_names(record, kFields)), place, name, kFields, record);
}

/// The options of a named record: the table that as_named() gives. Its keys are `name` and the record's fields.
template <class Record>
void read_named(const Value& options, const Place& place, const char* name, Record& record) {
  static_assert(
      requires { record.kind; } || lists_every_member<Record>(), "fields() must list every member");
  if constexpr (requires { Record::kElsewhere; })
    if (const Value* foreign = options.find(Record::kElsewhere.first))
      fail_at(*foreign, place.at(Record::kElsewhere.first).path, Record::kElsewhere.second);
  std::vector<std::string> known = field_names(record, Record::fields());
  known.insert(known.begin(), "name");
  read_fields(TableReader(options, place.path, std::move(known)), place, name, Record::fields(), record);
}

/// Whether a table without `name` has fields of this record alone.
template <class Record>
bool holds_fields_of(const Value& value, const Record& record) {
  if (value.table() == nullptr || value.table()->empty()) return false;
  const std::vector<std::string> names = field_names(record, Record::fields());
  return std::all_of(value.table()->begin(), value.table()->end(), [&](const Entry& entry) {
    return std::find(names.begin(), names.end(), entry.key) != names.end();
  });
}

/// "adam" or {name = "adam", lr = 0.1}: one of the records of a variant. Without `name`: the one that `out` holds, the
/// default, where it has all these fields.
template <class... Records>
void read_value(const Value& value, const Place& place, AnyValue, std::variant<Records...>& out) {
  if (std::visit([&](const auto& record) { return holds_fields_of(value, record); }, out))
    return std::visit([&](auto& record) { read_named(value, place, record.kName, record); }, out);
  const NamedChoice choice = as_named(value, place.path, record_names<std::variant<Records...>>());
  out = default_record<std::variant<Records...>>(choice.index);
  std::visit([&](auto& record) { read_named(choice.table, place, record.kName, record); }, out);
}

/// "zeros" or {name = "uniform", scale = 0.12}: a record whose `kind` has a name.
template <class Record>
requires std::is_enum_v<decltype(Record::kind)>
void read_value(const Value& value, const Place& place, AnyValue, Record& out) {
  const NamedChoice choice = as_named(value, place.path, names_of<decltype(Record::kind)>());
  out = Record{};
  out.kind = static_cast<decltype(Record::kind)>(choice.index);
  read_named(choice.table, place, describe(out.kind).name, out);
}

}  // namespace lockstep
