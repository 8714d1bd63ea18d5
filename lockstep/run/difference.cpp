#include "lockstep/run/difference.hpp"

#include <algorithm>
#include <cstring>
#include <tuple>
#include <variant>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "lockstep/core/words.hpp"

namespace lockstep {

namespace {

using Json = nlohmann::ordered_json;

/// "train.loss is 0.1 there and 0.2 here": the first entry that differs.
std::string json_difference(const Json& claimed, const Json& computed, const std::string& path = "") {
  if (!claimed.is_object() || !computed.is_object())
    return fmt::format("{} is {} there and {} here", path, one_line(claimed.dump()), one_line(computed.dump()));
  for (const auto& [key, value] : claimed.items()) {
    const std::string inner = path.empty() ? key : path + "." + key;
    if (!computed.contains(key)) return fmt::format("{} is there and not here", one_line(inner));
    if (computed.at(key) != value) return json_difference(value, computed.at(key), inner);
  }
  return fmt::format("{} has fewer entries there", path.empty() ? "the line" : one_line(path));
}

/// The first element that differs, by the names of the parameters that `network` has.
template <class T>
std::string element_difference(const Network& network, const std::string& what, const AlignedBuffer<T>& claimed,
                               const AlignedBuffer<T>& computed) {
  if (claimed.size() != computed.size()) return fmt::format("{}: other sizes", what);
  const auto same = [](T a, T b) { return std::memcmp(&a, &b, sizeof(T)) == 0; };
  const T* const end = claimed.data() + claimed.size();
  const auto first = std::mismatch(claimed.data(), end, computed.data(), same);
  if (first.first == end) return "";
  const std::int64_t at = first.first - claimed.data();
  return fmt::format("{} {} is {} there and {} here", what, element_name(network.parameters(), at), *first.first,
                     *first.second);
}

}  // namespace

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

std::string line_difference(const std::string& claimed, const std::string& computed) {
  const Json there = Json::parse(claimed, nullptr, false), here = Json::parse(computed, nullptr, false);
  if (there.is_discarded() || here.is_discarded()) return "it is not what a run writes";
  return json_difference(there, here);
}

std::string values_difference(const Network& network, const std::string& what, const ParameterValues& claimed,
                              const ParameterValues& computed) {
  if (claimed.index() != computed.index()) return fmt::format("{}: other precisions", what);
  return std::visit(
      [&](const auto& values) {
        return element_difference(network, what, values, std::get<std::decay_t<decltype(values)>>(computed));
      },
      claimed);
}

std::string state_difference(const Checkpoint& claimed, const Checkpoint& computed) {
  const Network& network = claimed.model.network;
  const TrainingState &there = claimed.state, &here = computed.state;
  for (const auto& [what, one, other] : {std::tuple{"the weight", &there.parameters, &here.parameters},
                                         {"the optimiser's first", &there.first, &here.first},
                                         {"the optimiser's second", &there.second, &here.second}})
    if (const std::string found = values_difference(network, what, *one, *other); !found.empty()) return found;
  if (there.averaged > 0 && here.averaged > 0)
    if (const std::string found = values_difference(network, "the average of the weight", there.average, here.average);
        !found.empty())
      return found;
  // The rest: sums of the epoch, rates, what is watched. Written alike, equal states are equal bytes.
  if (write_checkpoint(network, {}, there, {}) != write_checkpoint(network, {}, here, {}))
    return "the sums of the epoch under way differ";
  return "";
}

}  // namespace lockstep
