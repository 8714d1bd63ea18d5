#include "cli/exercise/task_file.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/exercise/track.hpp"
#include "lockstep/config/reader.hpp"
#include "lockstep/config/toml.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/file.hpp"
#include "lockstep/core/words.hpp"

namespace lockstep::cli {

namespace fs = std::filesystem;

namespace {

constexpr NumberRange kPoints{.max = 1e6};
constexpr NumberRange kLimit{.min = 0.1, .max = 600};
constexpr NumberRange kShareOfSpeed{.max = 10, .open_min = true};

std::vector<std::string> track_names() {
  std::vector<std::string> names;
  for (const Track& each : tracks()) names.push_back(each.name);
  return names;
}

/// [{share = 0.5, points = 2}, ...], shares ascending.
std::vector<PointStep> read_steps(const Value& value, const std::string& path) {
  std::vector<PointStep> steps;
  for (const Value& each : as_array(value, path)) {
    const std::string name = fmt::format("{}[{}]", path, steps.size());
    const TableReader step(each, name, {"share", "points"});
    const PointStep read{as_number(step.require("share", "0.5 is half of the speed"), name + ".share", kShareOfSpeed),
                         as_number(step.require("points", "what this speed adds"), name + ".points", kPoints)};
    if (!steps.empty() && read.share <= steps.back().share)
      fail_at(each, name, fmt::format("share {} does not follow {}: shares go up", read.share, steps.back().share));
    steps.push_back(read);
  }
  return steps;
}

std::vector<std::uint64_t> read_seeds(const Value& value, const std::string& path) {
  std::vector<std::uint64_t> seeds;
  for (const Value& each : as_array(value, path))
    seeds.push_back(static_cast<std::uint64_t>(
        as_integer(each, fmt::format("{}[{}]", path, seeds.size()), {.min = 3, .max = std::int64_t{1} << 48})));
  if (seeds.size() > 16) fail_at(value, path, "more than 16 seeds: every one is a check of its own");
  return seeds;
}

std::vector<std::string> read_tracks(const Value& value, const std::string& path) {
  const std::vector<std::string> known = track_names();
  std::vector<std::string> names;
  for (const Value& each : as_array(value, path)) {
    names.push_back(known[as_choice(each, fmt::format("{}[{}]", path, names.size()), known)]);
    if (std::count(names.begin(), names.end(), names.back()) > 1)
      fail_at(each, path, fmt::format("{} stands there twice", names.back()));
  }
  if (names.empty()) fail_at(value, path, "has no names; leave the key out to allow all tracks");
  return names;
}

Grading read_grading(const Value& value) {
  const TableReader table(
      value, "grading",
      {"points", "another_order", "simd", "roof", "seeds", "limit", "tracks", "visibility", "leaderboard"});
  static const std::vector<std::string> kVisibilities = {"visible", "hidden", "after_due_date", "after_published"};
  Grading grading;
  const auto with = [&](const char* key, const auto& read) {
    if (const Value* const found = table.find(key)) read(*found, table.path_of(key));
  };
  with("points", [&](const Value& v, const std::string& path) { grading.points = as_number(v, path, kPoints); });
  with("another_order",
       [&](const Value& v, const std::string& path) { grading.another_order = as_number(v, path, kPoints); });
  if (grading.another_order > grading.points)
    table.fail("another_order",
               fmt::format("{} is more than a right kernel gets (points = {})", grading.another_order, grading.points));
  with("simd", [&](const Value& v, const std::string& path) { grading.simd = read_steps(v, path); });
  with("roof", [&](const Value& v, const std::string& path) { grading.roof = read_steps(v, path); });
  with("seeds", [&](const Value& v, const std::string& path) { grading.seeds = read_seeds(v, path); });
  with("limit", [&](const Value& v, const std::string& path) { grading.limit = as_number(v, path, kLimit); });
  with("tracks", [&](const Value& v, const std::string& path) { grading.tracks = read_tracks(v, path); });
  with("visibility", [&](const Value& v, const std::string& path) {
    grading.visibility = kVisibilities[as_choice(v, path, kVisibilities)];
  });
  with("leaderboard", [&](const Value& v, const std::string& path) { grading.leaderboard = as_bool(v, path); });
  if (grading.most() <= 0) table.fail("points", "nothing can be reached: give points for something");
  return grading;
}

}  // namespace

double Grading::most() const {
  double sum = points;
  for (const PointStep& each : simd) sum += each.points;
  for (const PointStep& each : roof) sum += each.points;
  return sum;
}

TaskSettings read_task_file(const fs::path& file) {
  const std::string name = one_line(file.string());
  const Value document = parse_toml(read_text(file, kMaxConfigBytes, ErrorCode::usage), name);
  const TableReader table(document, "", {"exercise", "track", "grading", "definition"});
  TaskSettings task;
  if (const Value* const found = table.find("grading")) task.grading = read_grading(*found);
  if (const Value* const found = table.find("definition")) {
    if (table.find("exercise") != nullptr)
      table.fail("exercise", "stands beside [definition], which is an exercise itself; remove one of them");
    if (table.find("track") != nullptr)
      table.fail("track", "stands beside [definition]; tracks of an own exercise are definition.tracks");
    task.definition = *found;
    return task;
  }
  task.exercise = as_string(table.require("exercise", "`lockstep exercise new` writes it"), "exercise");
  task.track =
      track_names()[as_choice(table.require("track", "`lockstep exercise new` writes it"), "track", track_names())];
  return task;
}

}  // namespace lockstep::cli
