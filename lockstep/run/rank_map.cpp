#include "lockstep/run/rank_map.hpp"

#include <algorithm>
#include <map>
#include <sstream>
#include <thread>

#include <fmt/format.h>

#include "lockstep/core/words.hpp"
#include "lockstep/lab/text_table.hpp"
#include "lockstep/parallel/team.hpp"

namespace lockstep {

namespace {

bool is_cramped(const RankPlace& place) { return place.cpu_count < place.host_cpus && place.threads > place.cpu_count; }

/// What gives each rank `threads` processors.
std::string cure(const std::optional<Launcher>& launcher, int threads) {
  if (launcher && launcher->name.starts_with("srun"))
    return fmt::format("srun --cpus-per-task={} or --cpu-bind=none", threads);
  if (launcher && launcher->library == MpiLibrary::mpich)
    return fmt::format("mpirun -bind-to core:{} or -bind-to none", threads);
  return fmt::format("mpirun --map-by slot:PE={} or --bind-to none", threads);
}

// What differs by less is noise; fewer steps, or less time, cannot show it.
constexpr double kClearly = 1.25, kSecondsToJudge = 1;
constexpr std::int64_t kStepsToJudge = 100;

}  // namespace

std::string number_ranges(const std::vector<int>& ascending) {
  std::string text;
  for (std::size_t first = 0, last = 0; first < ascending.size(); first = ++last) {
    while (last + 1 < ascending.size() && ascending[last + 1] == ascending[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text += std::to_string(ascending[first]);
    if (last > first) text += fmt::format("-{}", ascending[last]);
  }
  return text;
}

std::vector<RankPlace> gather_places(Ranks& ranks, int threads) {
  const std::vector<int> cpus = allowed_cpus();
  const std::size_t all = std::max(1U, std::thread::hardware_concurrency());
  const std::string own = fmt::format("{} {} {} {} {}", threads, all, cpus.empty() ? all : cpus.size(),
                                      cpus.empty() ? "?" : number_ranges(cpus), ranks.transport().host());
  std::vector<RankPlace> places;
  for (const std::string& text : ranks.all_gather(own, "map of the ranks")) {
    RankPlace place;
    std::istringstream fields(text);
    fields >> place.threads >> place.host_cpus >> place.cpu_count >> place.cpus >> place.host;
    places.push_back(place);
  }
  return places;
}

bool is_oversubscribed(const std::vector<RankPlace>& places) {
  std::map<std::pair<std::string, std::string>, int> by_mask;  // host and processors
  std::map<std::string, int> by_host;
  for (const RankPlace& place : places) {
    by_mask[{place.host, place.cpus}] += place.threads;
    by_host[place.host] += place.threads;
  }
  return std::any_of(places.begin(), places.end(), [&](const RankPlace& place) {
    return by_mask.at({place.host, place.cpus}) > place.cpu_count || by_host.at(place.host) > place.host_cpus;
  });
}

std::vector<std::string> rank_map(const std::vector<RankPlace>& places) {
  std::vector<std::string> lines;
  lines.reserve(places.size());
  for (const RankPlace& place : places)
    lines.push_back(fmt::format("rank {} on {}: {}, may use cpu{} {} ({} of {})", lines.size(), place.host,
                                count_of(place.threads, "thread"), place.cpu_count == 1 ? "" : "s", place.cpus,
                                place.cpu_count, place.host_cpus));
  return lines;
}

std::optional<std::string> binding_note(const std::vector<RankPlace>& places, const std::optional<Launcher>& launcher) {
  const auto first = std::find_if(places.begin(), places.end(), is_cramped);
  if (first == places.end()) return std::nullopt;
  const auto others = std::count_if(first + 1, places.end(), is_cramped);
  return fmt::format("rank {} on {} has {} but is bound to {} of {} cpus{}: use {}, or the thread count {}",
                     first - places.begin(), first->host, count_of(first->threads, "thread"), first->cpu_count,
                     first->host_cpus,
                     others > 0 ? fmt::format(" (and {} so)", count_of(static_cast<int>(others), "other rank")) : "",
                     cure(launcher, first->threads), first->cpu_count);
}

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
