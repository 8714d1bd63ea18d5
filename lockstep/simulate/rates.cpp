#include "lockstep/simulate/rates.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "lockstep/core/error.hpp"
#include "lockstep/lab/statistics.hpp"

namespace lockstep {

namespace {

nlohmann::json json_of(const SectionRates& rates) {
  auto sections = nlohmann::json::array();
  for (const auto& points : rates.sections) {
    auto list = nlohmann::json::array();
    for (const RatePoint& point : points) list.push_back({point.work, point.seconds});
    sections.push_back(std::move(list));
  }
  return {{"sections", std::move(sections)}, {"calls", rates.call_seconds}};
}

SectionRates rates_of(const nlohmann::json& value) {
  SectionRates rates;
  for (const auto& section : value.at("sections")) {
    auto& points = rates.sections.emplace_back();
    for (const auto& point : section) {
      points.push_back({point.at(0).get<double>(), point.at(1).get<double>()});
      if (!(points.back().work > 0 && points.back().seconds >= 0) ||
          (points.size() > 1 && points[points.size() - 2].work >= points.back().work))
        throw Error(ErrorCode::usage, "these are no rates: work must grow from point to point");
    }
  }
  if (value.contains("calls")) rates.call_seconds = value.at("calls").get<std::vector<double>>();
  for (const double seconds : rates.call_seconds)
    if (!(seconds >= 0)) throw Error(ErrorCode::usage, "these are no rates: a call takes less than no time");
  return rates;
}

template <class Read>
auto parse(const std::string& text, const Read& read) {
  try {
    return read(nlohmann::json::parse(text));
  } catch (const nlohmann::json::exception& error) {
    throw Error(ErrorCode::usage, fmt::format("these are no rates: {}", error.what()));
  }
}

}  // namespace

double SectionRates::seconds(std::int32_t section, double flops, double bytes) const {
  auto index = static_cast<std::size_t>(section);
  if (index < call_seconds.size() && call_seconds[index] > 0) return call_seconds[index];
  // What ranks do to each other's sums is the same addition as in the tree of one rank.
  if (section == kExchangeSection && index < sections.size() && sections[index].empty()) index = kReduceSection;
  const double work = flops > 0 ? flops : bytes;
  if (index >= sections.size() || sections[index].empty() || work <= 0) return 0;
  const std::vector<RatePoint>& points = sections[index];
  const auto above =
      std::find_if(points.begin(), points.end(), [&](const RatePoint& point) { return point.work >= work; });
  if (above == points.begin()) return above->seconds * work / above->work;
  if (above == points.end()) return points.back().seconds * work / points.back().work;
  const RatePoint& below = *(above - 1);
  return below.seconds + (above->seconds - below.seconds) * (work - below.work) / (above->work - below.work);
}

SectionRates median_rates(const std::vector<SectionRates>& rounds) {
  SectionRates result = rounds.front();
  for (std::size_t section = 0; section < result.sections.size(); ++section)
    for (std::size_t point = 0; point < result.sections[section].size(); ++point) {
      std::vector<double> seconds;
      for (const SectionRates& round : rounds) seconds.push_back(round.sections[section][point].seconds);
      result.sections[section][point].seconds = median(std::move(seconds));
    }
  for (std::size_t section = 0; section < result.call_seconds.size(); ++section) {
    std::vector<double> seconds;
    for (const SectionRates& round : rounds) seconds.push_back(round.call_seconds[section]);
    result.call_seconds[section] = median(std::move(seconds));
  }
  return result;
}

std::string rates_json(const SectionRates& rates) { return json_of(rates).dump(); }

SectionRates parse_rates(const std::string& json) {
  return parse(json, [](const nlohmann::json& value) { return rates_of(value); });
}

std::string rank_rates_json(const std::vector<SectionRates>& rates) {
  auto list = nlohmann::json::array();
  for (const SectionRates& each : rates) list.push_back(json_of(each));
  return list.dump();
}

std::vector<SectionRates> parse_rank_rates(const std::string& json) {
  return parse(json, [](const nlohmann::json& value) {
    std::vector<SectionRates> rates;
    for (const nlohmann::json& each : value) rates.push_back(rates_of(each));
    if (rates.empty()) throw Error(ErrorCode::usage, "these are no rates: there are none");
    return rates;
  });
}

void RatesCharge::charge(std::int32_t section, double flops, double bytes) {
  const double seconds = rates_.seconds(section, flops, bytes);
  if (seconds <= 0) return;
  total_ += seconds;
  pass_(seconds);
}

}  // namespace lockstep
