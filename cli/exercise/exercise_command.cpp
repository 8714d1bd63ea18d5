// lockstep exercise | exercise new NAME --track T [--out DIR]

#include <algorithm>
#include <map>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/exercise/commands.hpp"
#include "cli/exercise/folder.hpp"
#include "cli/exercise/work_log.hpp"
#include "cli/output/json.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/lab/text_table.hpp"

namespace lockstep::cli {

namespace fs = std::filesystem;

namespace {

struct ExerciseArguments {
  std::vector<std::string> words{};
  std::string track = "cpp", out{};
};

/// Exercises and tracks with a right solution in a folder below the present one.
std::map<std::string, std::vector<std::string>> solved_here() {
  std::map<std::string, std::vector<std::string>> done;
  std::error_code error;
  for (fs::directory_iterator each(".", error), end; !error && each != end; each.increment(error)) {
    if (!fs::exists(each->path() / "task.toml", error) || !fs::exists(each->path() / "worklog.jsonl", error)) continue;
    try {
      const ExerciseFolder folder = open_exercise_folder(each->path());
      auto& names = done[folder.exercise->name];
      if (solved(folder.work_log()) && std::find(names.begin(), names.end(), folder.track->name) == names.end())
        names.push_back(folder.track->name);
    } catch (const Error&) {
      continue;  // a folder of something else: the list is not about it
    }
  }
  return done;
}

/// Its tracks that this version can check, in the order of all tracks.
std::vector<std::string> tracks_of(const Exercise& exercise) {
  std::vector<std::string> names;
  for (const Track& track : tracks())
    if (std::find(exercise.tracks.begin(), exercise.tracks.end(), track.name) != exercise.tracks.end())
      names.push_back(track.name);
  return names;
}

void list(Console& console) {
  const auto done = solved_here();
  if (console.json()) {
    Json all = Json::array();
    for (const Exercise& each : exercises()) {
      const auto found = done.find(each.name);
      all.push_back({{"name", each.name},
                     {"title", each.title},
                     {"teaches", each.teaches},
                     {"needs", each.needs},
                     {"tracks", tracks_of(each)},
                     {"done", found == done.end() ? std::vector<std::string>{} : found->second}});
    }
    return console.print(all.dump(2) + "\n");
  }
  TextTable table("lllll");
  table.row({"exercise", "what it teaches", "after", "tracks", "done here"});
  for (const Exercise& each : exercises()) {
    const auto found = done.find(each.name);
    table.row({each.name, each.teaches, fmt::format("{}", fmt::join(each.needs, ", ")),
               fmt::format("{}", fmt::join(tracks_of(each), " ")),
               found == done.end() ? "" : fmt::format("{}", fmt::join(found->second, " "))});
  }
  console.print(table.str() + "\nStart one:  lockstep exercise new max --track cpp\nCheck it:   lockstep check max\n");
}

void make_new(const ExerciseArguments& arguments, Console& console) {
  if (arguments.words.size() != 2)
    throw Error(ErrorCode::usage, "exercise new takes one name; `lockstep exercise` lists them");
  const Exercise& exercise = exercise_named(arguments.words[1]);
  const ExerciseFolder folder =
      make_exercise_folder(arguments.out.empty() ? fs::path(exercise.name) : fs::path(arguments.out), exercise,
                           track_named(arguments.track));
  const std::string path = one_line(folder.path.string());
  if (console.json())
    return console.print(Json{{"folder", path},
                              {"exercise", exercise.name},
                              {"track", folder.track->name},
                              {"source", folder.source().string()}}
                             .dump(2) +
                         "\n");
  console.print(fmt::format("{0}/TASK.md has the task, {1} is where your code goes.\nThen: lockstep check {0}\n", path,
                            one_line(folder.source().string())));
}

void run_exercise(const ExerciseArguments& arguments, Console& console) {
  if (arguments.words.empty() || arguments.words[0] == "list") return list(console);
  if (arguments.words[0] == "new") return make_new(arguments, console);
  throw Error(ErrorCode::usage,
              fmt::format("exercise {}: it is `exercise`, `exercise new NAME`", one_line(arguments.words[0])));
}

}  // namespace

RunCommand exercise_command(Options& options) {
  const auto arguments = std::make_shared<ExerciseArguments>();
  options.examples(R"(Examples:
  lockstep exercise                                    the list: what each teaches, its tracks, what is done here
  lockstep exercise new linear-forward --track openmp  a folder with the task, a stub and how to check it)");
  options.arguments("what", arguments->words, {"WHAT", "Nothing: the list; new NAME: a folder for that exercise"},
                    false);
  std::vector<std::string> names;
  for (const Track& track : tracks()) names.push_back(track.name);
  options.choice("--track", arguments->track, names,
                 {"TRACK", fmt::format("One of {}; default: cpp", fmt::join(names, ", "))});
  options.text("-o,--out", arguments->out, {"DIR", "The new folder; default: the name of the exercise"});
  return [arguments](Console& console) { run_exercise(*arguments, console); };
}

}  // namespace lockstep::cli
