#pragma once
// From records to TOML, by their lists of fields (core/fields.hpp): internal to this folder. Numbers have the shortest
// form that reads back to the same bits.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>

#include "lockstep/config/toml.hpp"
#include "lockstep/data/sample_weights.hpp"
#include "lockstep/nn/layers.hpp"
#include "lockstep/train/metrics.hpp"

namespace lockstep {

/// One value of each type that a field can have. A field of another type does not compile. Lists of layers stand on
/// lines of their own, `indent` spaces before each.
inline std::string toml_text(bool value, int = 0) { return value ? "true" : "false"; }
template <std::integral Int>
std::string toml_text(Int value, int = 0) {
  return fmt::format("{}", value);
}
inline std::string toml_text(double value, int = 0) { return fmt::format("{}", value); }
inline std::string toml_text(const std::string& value, int = 0) { return toml_quote(value); }
template <class Enum>
requires std::is_enum_v<Enum> std::string toml_text(Enum value, int = 0) { return toml_quote(name_of(value)); }
std::string toml_text(const Extent& extent, int = 0);
inline std::string toml_text(const std::vector<std::int64_t>& list, int = 0) {
  return fmt::format("[{}]", fmt::join(list, ", "));
}
inline std::string toml_text(const std::vector<std::string>& list, int = 0) {
  std::vector<std::string> quoted;
  for (const std::string& text : list) quoted.push_back(toml_quote(text));
  return fmt::format("[{}]", fmt::join(quoted, ", "));
}
std::string toml_text(const std::vector<LayerSpec>& layers, int indent);
inline constexpr const char* kBalanced = "balanced";
inline std::string toml_text(const ClassWeights& weights, int = 0) {
  return weights.balanced ? toml_quote(kBalanced) : fmt::format("[{}]", fmt::join(weights.values, ", "));
}

inline std::string toml_text(const std::vector<Metric>& metrics, int = 0) {
  std::vector<std::string> names;
  for (const Metric& metric : metrics) names.push_back(toml_quote(metric.name()));
  return fmt::format("[{}]", fmt::join(names, ", "));
}

/// A value that means "by default" and cannot be written.
template <class T>
bool is_absent(const std::optional<T>& value) {
  return !value;
}
template <class T>
bool is_absent(const std::vector<T>& list) {
  return list.empty();
}
inline bool is_absent(const ClassWeights& weights) { return !weights.any(); }
template <class T>
bool is_absent(const T&) {
  return false;
}

/// "out = 10", "bias = true": the fields that the record has.
template <class Record, class Fields>
std::vector<std::string> toml_entries(const Record& record, const Fields& fields, int indent = 0);

/// {name = "adam", lr = 0.001}, or the bare name where nothing follows it.
template <class Record>
std::string named_toml(const char* name, const Record& record) {
  const std::vector<std::string> entries = toml_entries(record, Record::fields());
  if (entries.empty()) return toml_quote(name);
  return fmt::format("{{name = {}, {}}}", toml_quote(name), fmt::join(entries, ", "));
}
template <class... Records>
std::string toml_text(const std::variant<Records...>& value, int = 0) {
  return std::visit([](const auto& record) { return named_toml(record.kName, record); }, value);
}
/// With a `kind`, its name goes first.
template <class Record>
requires requires { Record::fields(); }
std::string toml_text(const Record& record, int = 0) {
  if constexpr (requires { record.kind; })
    return named_toml(describe(record.kind).name, record);
  else
    return fmt::format("{{{}}}", fmt::join(toml_entries(record, Record::fields()), ", "));
}
template <class T>
std::string toml_text(const std::optional<T>& value, int indent = 0) {
  return toml_text(*value, indent);
}

/// The value of a field. Of those ranges alone that change how it is written:
template <class Each, class T>
std::string field_text(const Each& each, const T& value, int indent) {
  if constexpr (std::is_same_v<decltype(each.range), TwoWords>)
    return toml_quote(value ? each.range.yes : each.range.no);
  const std::string text = toml_text(value, indent);
  return each.zero_word != nullptr && text == "0" ? toml_quote(each.zero_word) : text;
}

template <class Record, class Fields>
std::vector<std::string> toml_entries(const Record& record, const Fields& fields, int indent) {
  std::vector<std::string> entries;
  const Record defaults{};
  for_each_in(fields, [&](const auto& each) {
    const auto& value = each.of(record);
    if (!each.belongs_to(record) || is_absent(value)) return;
    const auto& usual = each.of(defaults);
    const std::string text = field_text(each, value, indent);
    if (each.is_quiet && !is_absent(usual) && text == field_text(each, usual, indent)) return;
    entries.push_back(fmt::format("{} = {}", each.name, text));
  });
  return entries;
}

}  // namespace lockstep
