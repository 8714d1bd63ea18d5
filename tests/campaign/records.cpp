// campaign_records: what a campaign may draw, from the program's own lists, as JSON on stdout: layers, optimisers,
// schedules, initialisers and averages with their options and ranges, losses and backends. What is added to those lists
// joins by itself.
//
// campaign_records --check: reads configurations, one JSON string per line, and answers each with a line: the shape of
// the network's output, {"output": [3, 8]}, or {"error": "..."} where the network cannot be made.

#include <iostream>
#include <string>
#include <type_traits>
#include <variant>

#include <nlohmann/json.hpp>

#include "lockstep/config/config.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/fields.hpp"
#include "lockstep/kernels/backend.hpp"
#include "lockstep/nn/layers.hpp"
#include "lockstep/train/trainer.hpp"

namespace lockstep {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
std::string type_of(const T&) {
  if constexpr (std::is_same_v<T, bool>)
    return "flag";
  else if constexpr (std::is_integral_v<T>)
    return "whole";
  else if constexpr (std::is_floating_point_v<T>)
    return "number";
  else if constexpr (std::is_same_v<T, Extent> || std::is_same_v<T, std::optional<Extent>>)
    return "extent";
  else if constexpr (std::is_same_v<T, std::optional<Init>>)
    return "initialiser";
  else if constexpr (std::is_same_v<T, std::vector<LayerSpec>>)
    return "layers";
  else
    return "other";
}

void add_range(Json& field, IntRange range) {
  field["min"] = range.min;
  field["max"] = range.max;
}
void add_range(Json& field, NumberRange range) {
  field["min"] = range.min;
  if (range.max < 1e300) field["max"] = range.max;
  field["open_min"] = range.open_min;
  field["open_max"] = range.open_max;
}
template <class Other>
void add_range(Json&, const Other&) {}

template <class Record>
Json fields_of(const Record& record) {
  Json list = Json::array();
  for_each_in(Record::fields(), [&](const auto& each) {
    if (!each.belongs_to(record)) return;
    Json field = {{"name", each.name}, {"type", type_of(each.of(record))}, {"required", each.hint != nullptr}};
    add_range(field, each.range);
    list.push_back(field);
  });
  return list;
}

template <class... Records>
Json variant_of(std::type_identity<std::variant<Records...>>) {
  Json list = Json::array();
  (list.push_back({{"name", Records::kName}, {"fields", fields_of(Records{})}}), ...);
  return list;
}

template <class Record>
Json kinds_of() {
  Json list = Json::array();
  using Kind = decltype(Record::kind);
  for (std::size_t i = 0; i < names_of<Kind>().size(); ++i) {
    Record record;
    record.kind = static_cast<Kind>(i);
    list.push_back({{"name", names_of<Kind>()[i]}, {"fields", fields_of(record)}});
  }
  return list;
}

Json records() {
  return {{"layers", variant_of(std::type_identity<LayerKind>{})},
          {"optimizers", variant_of(std::type_identity<OptimizerSpec>{})},
          {"schedules", kinds_of<Schedule>()},
          {"initialisers", kinds_of<Init>()},
          {"averages", kinds_of<Averaging>()},
          {"losses", names_of<Loss>()}};
}

Json answer(const std::string& line) {
  try {
    const Network network = make_network(parse_config(Json::parse(line).get<std::string>(), "drawn.toml"));
    const auto extents = network.output().extents();
    return {{"output", std::vector<std::int64_t>(extents.begin(), extents.end())},
            {"parameters", network.parameter_count()}};
  } catch (const Error& error) {
    return {{"error", error.what()}};
  }
}

}  // namespace
}  // namespace lockstep

int main(int count, char** arguments) {
  if (count < 2) {
    std::cout << lockstep::records().dump(1) << '\n';
    return 0;
  }
  if (std::string(arguments[1]) != "--check") return 2;
  for (std::string line; std::getline(std::cin, line);) std::cout << lockstep::answer(line).dump() << std::endl;
  return 0;
}
