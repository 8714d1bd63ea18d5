#include <fmt/format.h>

#include <cmath>
#include <filesystem>

#include "lockstep/config/record_reader.hpp"
#include "lockstep/config/sections.hpp"
#include "lockstep/config/suggest.hpp"
#include "lockstep/data/data_fields.hpp"

namespace lockstep {

namespace {

constexpr std::int64_t kMaxElements = std::int64_t{1} << 32;

/// A name that is nearly one of ours, and no file, is a slip of the fingers.
void check_source(const Value& value, const std::string& source) {
  std::error_code ignored;
  if (is_named_source(source) || std::filesystem::exists(source, ignored)) return;
  if (const auto near = nearest(source, source_names()))
    fail_at(value, "data.source",
            fmt::format("there is no data set and no file called \"{}\"; did you mean {}?", source, *near));
}

}  // namespace

void read_value(const Value& value, const Place& place, CountOrFraction, double& out) {
  out = as_number(value, place.path, kNotNegative);
  if (out >= 1 && out != std::floor(out))
    fail_at(value, place.path, fmt::format("must be a fraction below 1 or a whole number of samples, got {}", out));
}

/// {train = 50000, validation = 10000, test = 10000} or [50000, 10000, 10000].
void read_value(const Value& value, const Place& place, AnyValue, SplitConfig& out) {
  if (const ValueArray* list = value.array()) {
    if (list->size() != 3)
      fail_at(value, place.path, fmt::format("must have 3 numbers, train, validation, test, not {}", list->size()));
    std::size_t i = 0;
    for_each_in(SplitConfig::fields(), [&](const auto& each) {
      read_value((*list)[i], {fmt::format("{}[{}]", place.path, i)}, each.range, each.of(out));
      ++i;
    });
  } else {
    read_record(value, place, "split", out);
  }
  double fractions = 0;
  for (const double part : {out.train, out.validation, out.test})
    if (part < 1) fractions += part;
  if (fractions > 1 + 1e-9)
    fail_at(value, place.path, fmt::format("the fractions must not exceed 1 together, got {}", fractions));
}

/// 20 or {size = 20, method = "bicubic"}.
void read_value(const Value& value, const Place& place, AnyValue, ResizeConfig& out) {
  read_record(value, place, "resize", out);
}

void read_value(const Value& value, const Place& place, AnyValue, std::vector<std::int64_t>& out) {
  const ValueArray& list = as_array(value, place.path);
  if (list.empty() || list.size() > 3) fail_at(value, place.path, "must have 1 to 3 extents, for example [1, 28, 28]");
  for (std::size_t i = 0; i < list.size(); ++i)
    out.push_back(as_integer(list[i], fmt::format("{}[{}]", place.path, i), {1, kMaxElements}));
}

const std::vector<std::string>& data_keys() {
  static const std::vector<std::string> keys = field_names(DataConfig{}, data_fields());
  return keys;
}

DataConfig read_data(const Value& section) {
  const TableReader table(section, "data", data_keys(), all_keys());
  DataConfig data;
  for (const Entry& entry : *section.table()) data.places[entry.key] = entry.value.origin;
  read_fields(table, {"data"}, "data", data_fields(), data);
  check_source(*table.find("source"), data.source);
  return data;
}

}  // namespace lockstep
