#include "cli/reproduce/findings.hpp"

#include <fmt/format.h>

#include "lockstep/core/error.hpp"

namespace lockstep::cli {

const Result* Findings::find(std::string_view name) const {
  return first_where(results_, [&](const Result& each) { return each.name == name; });
}

const Result& Findings::get(std::string_view name) const {
  if (const Result* const found = find(name)) return *found;
  throw Error(ExitCode::data, fmt::format("results.jsonl: no result \"{}\"; measure again", name));
}

bool Findings::is_in_series(const Result& result, std::string_view prefix) {
  return result.name.starts_with(prefix) && result.name.substr(prefix.size()).starts_with(": ");
}

std::string short_name(const Result& result) {
  const auto colon = result.name.find(": ");
  return colon == std::string::npos ? result.name : result.name.substr(colon + 2);
}

double median_of(const Result& result) {
  if (const auto summary = result.summary()) return summary->median;
  throw Error(ExitCode::data, fmt::format("results.jsonl: \"{}\" has no samples; measure again", result.name));
}

}  // namespace lockstep::cli
