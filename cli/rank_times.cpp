#include "cli/rank_times.hpp"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>

#include "lockstep/lab/text_table.hpp"

namespace lockstep::cli {

namespace {

// What differs by less, or is over sooner, is noise.
constexpr double kClearly = 1.25, kSecondsToJudge = 0.2;

}  // namespace

std::optional<Straggler> find_straggler(const std::vector<PhaseTimes>& ranks) {
  if (ranks.size() < 2) return std::nullopt;
  const auto less_busy = [](const PhaseTimes& a, const PhaseTimes& b) { return a.busy() < b.busy(); };
  const auto slowest = std::max_element(ranks.begin(), ranks.end(), less_busy);
  std::vector<double> others;
  for (auto each = ranks.begin(); each != ranks.end(); ++each)
    if (each != slowest) others.push_back(each->busy());
  std::nth_element(others.begin(), others.begin() + static_cast<std::ptrdiff_t>(others.size() / 2), others.end());
  const double median = others[others.size() / 2];
  if (slowest->busy() < kSecondsToJudge || slowest->busy() < kClearly * median) return std::nullopt;
  return Straggler{static_cast<int>(slowest - ranks.begin()), slowest->busy() / median};
}

std::vector<std::string> rank_time_lines(const std::vector<PhaseTimes>& ranks, std::int64_t steps) {
  TextTable table("lrrl");
  table.row({"ms per step", "mean", "slowest", "rank"});
  for (const Phase& phase : kPhases) {
    double sum = 0;
    std::size_t slowest = 0;
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      sum += ranks[rank].*phase.seconds;
      if (ranks[rank].*phase.seconds > ranks[slowest].*phase.seconds) slowest = rank;
    }
    const double per_step = 1e3 / double(std::max<std::int64_t>(steps, 1));
    table.row({phase.name, fmt::format("{:.3f}", sum / double(ranks.size()) * per_step),
               fmt::format("{:.3f}", ranks[slowest].*phase.seconds * per_step), std::to_string(slowest)});
  }
  std::vector<std::string> lines;
  std::istringstream text(table.str(2));
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

}  // namespace lockstep::cli
