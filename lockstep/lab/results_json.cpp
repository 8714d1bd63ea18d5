// Results to JSON and back, by their lists of fields. The reader looks at every key and type: a file of results may
// come from anywhere.

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "lockstep/core/error.hpp"
#include "lockstep/lab/record.hpp"
#include "lockstep/lab/trace.hpp"

namespace lockstep {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFormat = "lockstep-result-1";
constexpr std::size_t kMaxLineBytes = std::size_t{64} << 20;
constexpr int kMaxDepth = 6;
/// Statistics are written with all digits and computed again: they may differ by the last rounding of another machine.
constexpr double kSame = 1e-12;

void require_finite(double value, const Result& result) {
  if (!std::isfinite(value))
    throw Error(ErrorCode::bug,
                fmt::format("result {} \"{}\" holds a number that is not finite", result.kind, result.name));
}

bool known_kind(const std::string& kind) {
  const auto& kinds = result_kinds();
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

/// Only where there are samples; an interval only of enough samples.
void add_statistics(const Result& result, Json& json) {
  const auto summary = result.summary();
  if (!summary) return;
  json["n"] = summary->count;
  json["median"] = summary->median;
  if (!summary->interval) return;
  json["low"] = summary->interval->low;
  json["high"] = summary->interval->high;
  json["coverage"] = summary->interval->coverage;
}

/// A record is an object with its fields in their order.
template <class Value>
Json json_of(const Value& value) {
  if constexpr (HasFields<Value>) {
    Json object = Json::object();
    for_each_in(Value::fields(), [&]<class Each>(const Each& field) {
      if constexpr (!std::same_as<typename Each::Type, ResultPlace>)
        object[std::string(field.name)] = json_of(field.of(value));
      if constexpr (std::same_as<Value, Result>)
        if (field.name == "samples") add_statistics(value, object);
    });
    return object;
  } else if constexpr (record_detail::Optional<Value>) {
    return value ? Json(*value) : Json(nullptr);
  } else if constexpr (std::same_as<Value, std::vector<CacheLevel>>) {
    Json list = Json::array();
    for (const CacheLevel& each : value) list.push_back(json_of(each));
    return list;
  } else {
    return Json(value);
  }
}

/// Reads an object key by key; a key that was not read is an error in the end.
class ObjectReader {
 public:
  ObjectReader(const Json& json, std::string where) : json_(json), where_(std::move(where)) {
    if (!json.is_object()) fail("", "must be an object");
  }

  [[noreturn]] void fail(std::string_view key, std::string_view what) const {
    throw Error(ErrorCode::data, fmt::format("{}: {}{}{}", where_, key, key.empty() ? "" : " ", what));
  }

  bool has(const char* key) const { return json_.contains(key); }

  template <class Value>
  Value get(const std::string& key) {
    const auto found = json_.find(key);
    if (found == json_.end()) fail(key, "is missing");
    read_.insert(key);
    Value value{};
    convert(*found, key, value);
    return value;
  }

  /// All fields, and nothing else.
  template <HasFields Record>
  void get_fields(Record& record) {
    static_assert(lists_every_member<Record>());
    for_each_in(Record::fields(), [&]<class Each>(const Each& field) {
      if constexpr (!std::same_as<typename Each::Type, ResultPlace>)
        field.of(record) = get<typename Each::Type>(std::string(field.name));
    });
  }
  void finish() const {
    for (const auto& [key, value] : json_.items())
      if (!read_.contains(key)) fail(json_string(key), "is not a key of this format");
  }

 private:
  void convert(const Json& json, const std::string& key, std::string& value) const {
    if (!json.is_string()) fail(key, "must be text");
    value = json.get<std::string>();
  }
  void convert(const Json& json, const std::string& key, double& value) const {
    if (!json.is_number()) fail(key, "must be a number");
    value = json.get<double>();
    if (!std::isfinite(value)) fail(key, "must be finite");
  }
  template <std::integral Count>
  void convert(const Json& json, const std::string& key, Count& value) const {
    if (!json.is_number_integer() || json < 0 || json > (std::int64_t{1} << 52)) fail(key, "must be a count");
    value = static_cast<Count>(std::min<std::int64_t>(json.get<std::int64_t>(), std::numeric_limits<Count>::max()));
  }
  void convert(const Json& json, const std::string& key, std::optional<std::uint64_t>& value) const {
    if (json.is_null()) return;
    if (!json.is_number_unsigned()) fail(key, "must be a whole number, or null");
    value = json.get<std::uint64_t>();
  }
  template <class Element>
  void convert(const Json& json, const std::string& key, std::vector<Element>& values) const {
    if (!json.is_array()) fail(key, "must be an array");
    for (const Json& each : json) convert(each, key, values.emplace_back());
  }
  template <class Element>
  void convert(const Json& json, const std::string& key, std::map<std::string, Element>& values) const {
    if (!json.is_object()) fail(key, "must be an object");
    for (const auto& [name, each] : json.items()) convert(each, key, values[name]);
  }
  template <HasFields Record>
  void convert(const Json& json, const std::string& key, Record& record) const {
    ObjectReader reader(json, fmt::format("{}: {}", where_, key));
    reader.get_fields(record);
    reader.finish();
  }

  const Json& json_;
  std::string where_;
  std::set<std::string> read_;
};

/// The statistics of a line must be those of its samples.
void check_statistics(ObjectReader& reader, const Result& result) {
  const std::optional<Summary> summary = result.summary();
  if (!summary) return;
  const auto check = [&](const char* key, double own) {
    const auto written = reader.get<double>(key);
    if (std::abs(written - own) > kSame * std::max(std::abs(own), std::abs(written)))
      reader.fail(key, "does not follow from the samples");
  };
  check("median", summary->median);
  // Files of older versions lack the count, and have an interval of however few samples.
  if (reader.has("n")) check("n", double(summary->count));
  if (summary->interval) {
    check("low", summary->interval->low);
    check("high", summary->interval->high);
    check("coverage", summary->interval->coverage);
  } else {
    for (const char* key : {"low", "high", "coverage"})
      if (reader.has(key)) static_cast<void>(reader.get<double>(key));
  }
}

/// nlohmann builds trees of any depth and lets the last of equal keys win; neither is allowed here.
Json parse_strictly(std::string_view line, const std::string& where) {
  std::vector<std::set<std::string>> keys;
  const auto guard = [&](int depth, Json::parse_event_t event, Json& parsed) {
    if (depth > kMaxDepth) throw Error(ErrorCode::data, fmt::format("{}: nested too deeply", where));
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key && !keys.back().insert(parsed.get<std::string>()).second)
      throw Error(ErrorCode::data,
                  fmt::format("{}: the key {} stands there twice", where, json_string(parsed.get<std::string>())));
    return true;
  };
  try {
    return Json::parse(line, guard);
  } catch (const Json::exception&) {
    throw Error(ErrorCode::data, fmt::format("{}: is not JSON; one result per line is expected", where));
  }
}

}  // namespace

std::string to_json_line(const Result& result) {
  if (!known_kind(result.kind)) throw Error(ErrorCode::bug, fmt::format("results have no kind \"{}\"", result.kind));
  for (const double sample : result.samples) require_finite(sample, result);
  for (const auto& [key, number] : result.numbers) require_finite(number, result);
  for (const auto& [key, values] : result.series)
    for (const double value : values) require_finite(value, result);
  Json json = {{"format", kFormat}};
  json.update(json_of(result));
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result result_from_json(std::string_view line, std::string_view place) {
  const std::string where(place);
  if (line.size() > kMaxLineBytes) throw Error(ErrorCode::data, fmt::format("{}: the line is too long", where));
  const Json json = parse_strictly(line, where);
  ObjectReader reader(json, where);
  if (reader.get<std::string>("format") != kFormat) reader.fail("format", fmt::format("must be \"{}\"", kFormat));
  Result result{.where = {where}};
  reader.get_fields(result);
  if (!known_kind(result.kind)) reader.fail("kind", fmt::format("{} is unknown", json_string(result.kind)));
  check_statistics(reader, result);
  reader.finish();
  return result;
}

}  // namespace lockstep
