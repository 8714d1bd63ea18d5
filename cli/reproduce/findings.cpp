#include "cli/reproduce/findings.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "lockstep/core/error.hpp"

namespace lockstep::cli {

const Result* Findings::find(std::string_view name) const {
  const auto found = std::find_if(results_.begin(), results_.end(), [&](const Result& r) { return r.name == name; });
  return found == results_.end() ? nullptr : &*found;
}

const Result& Findings::get(std::string_view name) const {
  if (const Result* const found = find(name)) return *found;
  throw Error(ExitCode::data, fmt::format("results.jsonl: no result \"{}\"; measure again", name));
}

std::vector<const Result*> Findings::series(std::string_view prefix) const {
  std::vector<const Result*> found;
  for (const Result& each : results_)
    if (each.name.starts_with(fmt::format("{}: ", prefix))) found.push_back(&each);
  return found;
}

std::string short_name(const Result& result) {
  const auto colon = result.name.find(": ");
  return colon == std::string::npos ? result.name : result.name.substr(colon + 2);
}

double median_of(const Result& result) {
  if (const auto summary = result.summary()) return summary->median;
  throw Error(ExitCode::data, fmt::format("results.jsonl: \"{}\" has no samples; measure again", result.name));
}

const std::vector<double>& values_of(const Result& result, const std::string& series, std::size_t least) {
  if (const auto found = result.series.find(series); found != result.series.end() && found->second.size() >= least)
    return found->second;
  throw Error(ExitCode::data, fmt::format("results.jsonl: \"{}\" needs a series \"{}\" of {} numbers; measure again",
                                          result.name, series, least));
}

}  // namespace lockstep::cli
