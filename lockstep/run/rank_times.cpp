#include "lockstep/run/rank_times.hpp"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>

#include "lockstep/lab/text_table.hpp"

namespace lockstep {

namespace {

// What differs by less is noise; fewer steps, or less time, cannot show it.
constexpr double kClearly = 1.25, kSecondsToJudge = 1;
constexpr std::int64_t kStepsToJudge = 100;

}  // namespace

std::optional<Straggler> StragglerWatch::add(const std::vector<PhaseTimes>& ranks, std::int64_t steps) {
  if (ranks.size() < 2 || named_) return std::nullopt;
  busy_.resize(ranks.size());
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) busy_[rank] += ranks[rank].busy();
  steps_ += steps;
  const auto slowest = std::max_element(busy_.begin(), busy_.end());
  std::vector<double> others(busy_.begin(), slowest);
  others.insert(others.end(), slowest + 1, busy_.end());
  std::nth_element(others.begin(), others.begin() + static_cast<std::ptrdiff_t>(others.size() / 2), others.end());
  const double median = others[others.size() / 2];
  named_ = steps_ >= kStepsToJudge && *slowest >= kSecondsToJudge && *slowest >= kClearly * median;
  if (!named_) return std::nullopt;
  return Straggler{static_cast<int>(slowest - busy_.begin()), *slowest / median};
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

}  // namespace lockstep
