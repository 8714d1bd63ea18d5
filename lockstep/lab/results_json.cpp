// Results to JSON and back. The reader looks at every key and type: a file of results may come from anywhere.

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "lockstep/core/error.hpp"
#include "lockstep/lab/results.hpp"
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
    throw Error(ExitCode::bug,
                fmt::format("result {} \"{}\" holds a number that is not finite", result.kind, result.name));
}

bool known_kind(const std::string& kind) {
  const auto& kinds = result_kinds();
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

Json machine_to_json(const MachineDescription& machine) {
  Json caches = Json::array();
  for (const CacheLevel& cache : machine.caches)
    caches.push_back(
        {{"level", cache.level}, {"type", cache.type}, {"bytes", cache.bytes}, {"shared_by", cache.shared_by}});
  return {{"processor", machine.processor},
          {"processors", machine.processors},
          {"cores", machine.cores},
          {"caches", std::move(caches)},
          {"instruction_sets", machine.instruction_sets},
          {"load", machine.load}};
}

/// Takes an object apart key by key; what nobody asked for is an error in the end.
class Fields {
 public:
  Fields(const Json& json, std::string where) : json_(json), where_(std::move(where)) {
    if (!json.is_object()) fail("", "must be an object");
  }

  [[noreturn]] void fail(const std::string& key, const std::string& what) const {
    throw Error(ExitCode::data, fmt::format("{}: {}{}{}", where_, key, key.empty() ? "" : " ", what));
  }

  bool has(const char* key) const { return json_.contains(key); }

  const Json& get(const char* key) {
    const auto found = json_.find(key);
    if (found == json_.end()) fail(key, "is missing");
    asked_.insert(key);
    return *found;
  }

  std::string text(const char* key) { return as_text(get(key), key); }
  std::string as_text(const Json& value, const std::string& key) const {
    if (!value.is_string()) fail(key, "must be text");
    return value.get<std::string>();
  }
  double number(const char* key) { return as_number(get(key), key); }
  double as_number(const Json& value, const std::string& key) const {
    if (!value.is_number()) fail(key, "must be a number");
    const double number = value.get<double>();
    if (!std::isfinite(number)) fail(key, "must be finite");
    return number;
  }
  std::int64_t count(const char* key) {
    const Json& value = get(key);
    if (!value.is_number_integer() || value < 0 || value > (std::int64_t{1} << 52)) fail(key, "must be a count");
    return value.get<std::int64_t>();
  }

  template <class Function>
  void each_member(const char* key, Function function) {
    const Json& object = get(key);
    if (!object.is_object()) fail(key, "must be an object");
    for (const auto& [name, value] : object.items()) function(name, value);
  }
  template <class Function>
  void each_element(const Json& array, const std::string& key, Function function) const {
    if (!array.is_array()) fail(key, "must be an array");
    for (const Json& value : array) function(value);
  }
  std::vector<double> numbers(const Json& array, const std::string& key) const {
    std::vector<double> values;
    each_element(array, key, [&](const Json& value) { values.push_back(as_number(value, key)); });
    return values;
  }
  std::vector<std::string> texts(const char* key) {
    std::vector<std::string> values;
    each_element(get(key), key, [&](const Json& value) { values.push_back(as_text(value, key)); });
    return values;
  }

  /// After the last get().
  void finish() const {
    for (const auto& [key, value] : json_.items())
      if (!asked_.contains(key)) fail(json_string(key), "is not a key of this format");
  }

 private:
  const Json& json_;
  std::string where_;
  std::set<std::string> asked_;
};

MachineDescription machine_from_json(const Json& json, const std::string& where) {
  Fields fields(json, where + ": machine");
  MachineDescription machine;
  machine.processor = fields.text("processor");
  machine.processors = static_cast<int>(std::min<std::int64_t>(fields.count("processors"), 1 << 24));
  machine.cores = static_cast<int>(std::min<std::int64_t>(fields.count("cores"), 1 << 24));
  fields.each_element(fields.get("caches"), "caches", [&](const Json& one) {
    Fields cache(one, where + ": cache");
    machine.caches.push_back(
        {.level = static_cast<int>(std::min<std::int64_t>(cache.count("level"), 16)),
         .type = cache.text("type"),
         .bytes = cache.count("bytes"),
         .shared_by = static_cast<int>(std::min<std::int64_t>(cache.count("shared_by"), 1 << 24))});
    cache.finish();
  });
  machine.instruction_sets = fields.texts("instruction_sets");
  machine.load = fields.number("load");
  fields.finish();
  return machine;
}

ResultOrigin origin_from_json(const Json& json, const std::string& where) {
  Fields fields(json, where + ": origin");
  ResultOrigin origin;
  origin.machine = machine_from_json(fields.get("machine"), where);
  fields.each_member("versions", [&](const std::string& name, const Json& value) {
    origin.versions[name] = fields.as_text(value, "versions");
  });
  origin.commit = fields.text("commit");
  origin.command = fields.text("command");
  origin.time = fields.text("time");
  fields.finish();
  return origin;
}

/// The statistics of a line must be those of its samples.
void check_statistics(Fields& fields, const Result& result) {
  const std::optional<Summary> summary = result.summary();
  if (!summary) return;
  const auto check = [&](const char* key, double own) {
    const double written = fields.number(key);
    if (std::abs(written - own) > kSame * std::max(std::abs(own), std::abs(written)))
      fields.fail(key, "does not follow from the samples");
  };
  check("median", summary->median);
  // Files of older versions lack the count, and have an interval of however few samples.
  if (fields.has("n")) check("n", double(summary->count));
  if (summary->interval) {
    check("low", summary->interval->low);
    check("high", summary->interval->high);
    check("coverage", summary->interval->coverage);
  } else {
    for (const char* key : {"low", "high", "coverage"})
      if (fields.has(key)) static_cast<void>(fields.number(key));
  }
}

/// nlohmann builds trees of any depth and lets the last of equal keys win; neither is allowed here.
Json parse_strictly(std::string_view line, const std::string& where) {
  std::vector<std::set<std::string>> keys;
  const auto guard = [&](int depth, Json::parse_event_t event, Json& parsed) {
    if (depth > kMaxDepth) throw Error(ExitCode::data, fmt::format("{}: nested too deeply", where));
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key && !keys.back().insert(parsed.get<std::string>()).second)
      throw Error(ExitCode::data,
                  fmt::format("{}: the key {} stands there twice", where, json_string(parsed.get<std::string>())));
    return true;
  };
  try {
    return Json::parse(line, guard);
  } catch (const Json::exception&) {
    throw Error(ExitCode::data, fmt::format("{}: is not JSON; one result per line is expected", where));
  }
}

}  // namespace

std::string to_json_line(const Result& result) {
  if (!known_kind(result.kind)) throw Error(ExitCode::bug, fmt::format("results have no kind \"{}\"", result.kind));
  for (const double sample : result.samples) require_finite(sample, result);
  for (const auto& [key, number] : result.numbers) require_finite(number, result);
  for (const auto& [key, values] : result.series)
    for (const double value : values) require_finite(value, result);
  Json json = {{"format", kFormat}, {"kind", result.kind}, {"name", result.name}, {"unit", result.unit}};
  json["samples"] = result.samples;
  if (const auto summary = result.summary()) {
    json["n"] = summary->count;
    json["median"] = summary->median;
    if (summary->interval) {
      json["low"] = summary->interval->low;
      json["high"] = summary->interval->high;
      json["coverage"] = summary->interval->coverage;
    }
  }
  json["baseline"] = result.baseline;
  json["seed"] = result.seed ? Json(*result.seed) : Json(nullptr);
  json["kernels"] = result.kernels;
  json["weight_hash"] = result.weight_hash;
  json["warnings"] = result.warnings;
  json["numbers"] = result.numbers;
  json["words"] = result.words;
  json["series"] = result.series;
  json["configuration"] = result.configuration;
  json["origin"] = {{"machine", machine_to_json(result.origin.machine)},
                    {"versions", result.origin.versions},
                    {"commit", result.origin.commit},
                    {"command", result.origin.command},
                    {"time", result.origin.time}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result result_from_json(std::string_view line, std::string_view place) {
  const std::string where(place);
  if (line.size() > kMaxLineBytes) throw Error(ExitCode::data, fmt::format("{}: the line is too long", where));
  const Json json = parse_strictly(line, where);
  Fields fields(json, where);
  if (fields.text("format") != kFormat) fields.fail("format", fmt::format("must be \"{}\"", kFormat));
  Result result{.where = where};
  result.kind = fields.text("kind");
  if (!known_kind(result.kind)) fields.fail("kind", fmt::format("{} is unknown", json_string(result.kind)));
  result.name = fields.text("name");
  result.unit = fields.text("unit");
  result.samples = fields.numbers(fields.get("samples"), "samples");
  check_statistics(fields, result);
  result.baseline = fields.text("baseline");
  if (const Json& seed = fields.get("seed"); !seed.is_null()) {
    if (!seed.is_number_unsigned()) fields.fail("seed", "must be a whole number, or null");
    result.seed = seed.get<std::uint64_t>();
  }
  result.kernels = fields.texts("kernels");
  result.weight_hash = fields.text("weight_hash");
  result.warnings = fields.texts("warnings");
  fields.each_member("numbers", [&](const std::string& key, const Json& value) {
    result.numbers[key] = fields.as_number(value, "numbers");
  });
  fields.each_member(
      "words", [&](const std::string& key, const Json& value) { result.words[key] = fields.as_text(value, "words"); });
  fields.each_member("series", [&](const std::string& key, const Json& value) {
    result.series[key] = fields.numbers(value, "series");
  });
  result.configuration = fields.text("configuration");
  result.origin = origin_from_json(fields.get("origin"), where);
  fields.finish();
  return result;
}

}  // namespace lockstep
