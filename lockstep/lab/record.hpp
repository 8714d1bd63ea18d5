#pragma once
// Records as lines of results.jsonl: the fields of a record (core/fields.hpp) are the numbers, words and series of a
// result. One list of fields writes the line and reads it back.
//
//   struct Timing {
//     int threads = 1;
//     std::string backend{};
//     static constexpr auto fields() { return std::tuple{field("threads", &Timing::threads), ...}; }
//   };
//   append_result(file, line_of("measurement", "simd", Timing{.threads = 2, .backend = "simd"}));
//   for (const Line<Timing>& line : lines_of<Timing>(read_results(file), "measurement")) line.threads, line.samples
//
// | type of the member | in the line |
// | --- | --- |
// | bool, whole numbers, double | numbers |
// | std::string, enumerations with kNames | words; an empty `defaulted` text is not written |
// | std::vector<double> | series; an empty one is not written |
// | std::optional of these | nothing is not written, and files may lack it |
// | std::map from std::string to these | every key that begins with the name of the field |

#include <array>
#include <cmath>
#include <concepts>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lockstep/core/fields.hpp"
#include "lockstep/lab/results.hpp"

namespace lockstep {

/// The names of the values of an enumeration, in order: specialise it for those that are fields.
template <class Enumeration>
inline constexpr std::array<const char*, 0> kNames{};

template <class Enumeration>
requires std::is_enum_v<Enumeration>
constexpr const char* enum_name(Enumeration value) {
  static_assert(kNames<Enumeration>.size() > 0, "an enumeration that is a field needs kNames");
  return kNames<Enumeration>.at(static_cast<std::size_t>(value));
}

/// Error(data): the file and line of the result, the field, and what is wrong with it.
[[noreturn]] void refuse_field(const Result& line, std::string_view field, std::string_view what);

namespace record_detail {

template <class Value>
concept Optional = requires(Value value) {
  value.has_value();
};
template <class Value>
concept Map = requires {
  typename Value::mapped_type;
};

/// Where fields of the type stand in a line.
template <class Value>
auto& place_of(auto& line) {
  if constexpr (std::is_arithmetic_v<Value>)
    return line.numbers;
  else if constexpr (std::same_as<Value, std::vector<double>>)
    return line.series;
  else
    return line.words;
}

template <class Value>
void put(Result& line, const std::string& name, const Value& value) {
  if constexpr (Optional<Value>) {
    if (value) put(line, name, *value);
  } else if constexpr (Map<Value>) {
    for (const auto& [key, one] : value) put(line, name + key, one);
  } else if constexpr (std::is_enum_v<Value>) {
    line.words[name] = enum_name(value);
  } else if constexpr (std::is_arithmetic_v<Value>) {
    line.numbers[name] = static_cast<double>(value);
  } else {
    place_of<Value>(line)[name] = value;
  }
}

template <class Value>
Value from_number(const Result& line, const std::string& name, double number) {
  if constexpr (std::same_as<Value, bool>) return number != 0;
  if constexpr (std::integral<Value>) {
    constexpr double kMost = std::min(static_cast<double>(std::numeric_limits<Value>::max()), 9e15);
    if (number != std::floor(number) || std::abs(number) > kMost) refuse_field(line, name, "must be a whole number");
  }
  return static_cast<Value>(number);
}

/// False where the line lacks the field.
template <class Value>
bool get(const Result& line, const std::string& name, Value& value) {
  if constexpr (Optional<Value>) {
    if (typename Value::value_type own{}; get(line, name, own)) value = std::move(own);
    return true;
  } else if constexpr (Map<Value>) {
    for (const auto& [key, one] : place_of<typename Value::mapped_type>(line))
      if (key.starts_with(name)) value[key.substr(name.size())] = one;
    return true;
  } else {
    const auto& place = place_of<Value>(line);
    const auto found = place.find(name);
    if (found == place.end()) return std::same_as<Value, std::vector<double>>;
    if constexpr (std::is_arithmetic_v<Value>) {
      value = from_number<Value>(line, name, found->second);
    } else if constexpr (std::is_enum_v<Value>) {
      std::size_t index = 0;
      while (index < kNames<Value>.size() && found->second != kNames<Value>[index]) ++index;
      if (index == kNames<Value>.size()) refuse_field(line, name, "has an unknown value");
      value = static_cast<Value>(index);
    } else {
      value = found->second;
    }
    return true;
  }
}

}  // namespace record_detail

/// Writes the fields of the record into the line.
template <HasFields Record>
void put_record(const Record& record, Result& line) {
  for_each_field(record, [&](const auto& field, const auto& value) {
    if constexpr (requires { value.empty(); })
      if (value.empty() && (!field.required || !std::is_same_v<std::decay_t<decltype(value)>, std::string>)) return;
    record_detail::put(line, std::string(field.name), value);
  });
}

template <HasFields Record>
Result line_of(std::string kind, std::string name, const Record& record) {
  Result line{.kind = std::move(kind), .name = std::move(name)};
  put_record(record, line);
  return line;
}

/// The record of a line. Error(data) that names the line and the field for one that is missing or of a wrong value;
/// what is no field of the record is ignored.
template <HasFields Record>
Record record_of(const Result& line) {
  Record record;
  for_each_field(record, [&](const auto& field, auto& value) {
    if (!record_detail::get(line, std::string(field.name), value) && field.required)
      refuse_field(line, field.name, "is missing; measure again");
  });
  return record;
}

/// A result and the fields of its record.
template <HasFields Record>
struct Line : Result, Record {
  explicit Line(const Result& line) : Result(line), Record(record_of<Record>(line)) {}
};

/// A series of the line that must hold `least` numbers or more; else Error(data) that names line and field.
template <HasFields Record>
const std::vector<double>& series_of(const Line<Record>& line, std::vector<double> Record::*member,
                                     std::size_t least = 1) {
  for_each_in(Record::fields(), [&]<class Each>(const Each& field) {
    if constexpr (std::is_same_v<typename Each::Type, std::vector<double>>)
      if (field.member == member && (line.*member).size() < least)
        refuse_field(line, field.name, "has too few numbers; measure again");
  });
  return line.*member;
}

/// All of a kind, in the order of the file.
template <HasFields Record>
std::vector<Line<Record>> lines_of(std::span<const Result> results, std::string_view kind) {
  std::vector<Line<Record>> lines;
  for (const Result& each : results)
    if (each.kind == kind) lines.emplace_back(each);
  return lines;
}

/// The one of that kind and name; nothing where there is none.
template <HasFields Record>
std::optional<Line<Record>> find_line(std::span<const Result> results, std::string_view kind, std::string_view name) {
  for (const Result& each : results)
    if (each.kind == kind && each.name == name) return Line<Record>(each);
  return std::nullopt;
}

}  // namespace lockstep
