// lockstep exercise | exercise new NAME --track T [--out DIR] | export DIR | test DIR | report DIR...

#include <algorithm>
#include <map>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/exercise/commands.hpp"
#include "cli/exercise/folder.hpp"
#include "cli/exercise/grading/export_command.hpp"
#include "cli/exercise/homework_report.hpp"
#include "cli/exercise/work_log.hpp"
#include "cli/output/json.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/lab/report/write.hpp"
#include "lockstep/lab/text_table.hpp"

namespace lockstep::cli {

namespace fs = std::filesystem;

namespace {

struct ExerciseArguments {
  std::vector<std::string> words{};
  std::string track{}, out{};
  ExportArguments exported{};
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
  const ChosenExercise exercise = choose_exercise(arguments.words[1], ".");
  // An own exercise may not have the track cpp; its first one then.
  const auto& names = exercise->tracks;
  const bool has_cpp = std::find(names.begin(), names.end(), "cpp") != names.end();
  const std::string track = !arguments.track.empty() ? arguments.track : has_cpp ? "cpp" : names.front();
  const ExerciseFolder folder = make_exercise_folder(
      arguments.out.empty() ? fs::path(exercise->name) : fs::path(arguments.out), exercise, track_named(track));
  const std::string path = one_line(folder.path.string());
  if (console.json())
    return console.print(Json{{"folder", path},
                              {"exercise", exercise->name},
                              {"track", folder.track->name},
                              {"source", folder.source().string()}}
                             .dump(2) +
                         "\n");
  console.print(fmt::format("{0}/TASK.md has the task, {1} is where your code goes.\nThen: lockstep check {0}\n", path,
                            one_line(folder.source().string())));
}

void report(const ExerciseArguments& arguments, Console& console) {
  if (arguments.words.size() < 2)
    throw Error(ErrorCode::usage, "exercise report takes the folders of the parts: exercise report max xxt");
  const std::vector<fs::path> folders(arguments.words.begin() + 1, arguments.words.end());
  const fs::path out = arguments.out.empty() ? "." : arguments.out;
  const report::Document document = homework_report(folders);
  fs::create_directories(out);
  const fs::path page = report::write_report(document, out).front();
  console.print(console.json() ? Json{{"page", page.string()}}.dump(2) + "\n" : one_line(page.string()) + "\n");
}

/// What follows the word, where it is one folder.
std::string one_folder(const ExerciseArguments& arguments) {
  if (arguments.words.size() != 2)
    throw Error(ErrorCode::usage, fmt::format("exercise {} takes one folder", arguments.words[0]));
  return arguments.words[1];
}

void run_exercise(const ExerciseArguments& arguments, Console& console) {
  if (arguments.words.empty() || arguments.words[0] == "list") return list(console);
  if (arguments.words[0] == "new") return make_new(arguments, console);
  if (arguments.words[0] == "report") return report(arguments, console);
  if (arguments.words[0] == "test") return test_own_exercise(one_folder(arguments), console);
  if (arguments.words[0] == "export") {
    ExportArguments exported = arguments.exported;
    exported.folder = one_folder(arguments);
    exported.out = arguments.out;
    return export_exercise(exported, console);
  }
  throw Error(ErrorCode::usage,
              fmt::format("exercise {}: it is `exercise`, or `exercise` with new, export, test or report",
                          one_line(arguments.words[0])));
}

}  // namespace

RunCommand exercise_command(Options& options) {
  const auto arguments = std::make_shared<ExerciseArguments>();
  options.examples(R"(Examples:
  lockstep exercise                                    the list: what each teaches, its tracks, what is done here
  lockstep exercise new linear-forward --track openmp  a folder with the task, a stub and how to check it
  lockstep exercise report max xxt --out hw1           a page from the work logs of these folders
For teachers (docs/course/grading.md):
  lockstep exercise export --gradescope max            autograder.zip, by the points of max/task.toml
  lockstep exercise export --junit max                 checks a folder and writes its points; or --json, --markdown
  lockstep exercise new ./scale-add                    a folder for an own exercise
  lockstep exercise test scale-add                     is its oracle right, is every wrong variant named?)");
  options.arguments("what", arguments->words,
                    {"WHAT", "Nothing: the list; new NAME, export DIR, test DIR, report DIR...: as below"}, false);
  std::vector<std::string> names;
  for (const Track& track : tracks()) names.push_back(track.name);
  options.choice("--track", arguments->track, names,
                 {"TRACK", fmt::format("One of {}; default: cpp", fmt::join(names, ", "))});
  options.text("-o,--out", arguments->out,
               {"PATH", "new: the folder, default: the name of the exercise; export: the file; report: the folder"});
  ExportArguments& exported = arguments->exported;
  options.flag("--gradescope", exported.gradescope, "export: the zip of an autograder for this task");
  options.flag("--results", exported.results, "export: check, and write results.json of Gradescope");
  options.flag("--junit", exported.junit, "export: check, and write JUnit XML");
  options.flag("--markdown", exported.markdown, "export: check, and write Markdown");
  options.text("--task", exported.task, {"PATH", "export: the teacher's task.toml; default: the folder's own"});
  options.text("--program", exported.program, {"FILE", "--gradescope: the lockstep that grades; default: this one"});
  options.text("--compiler", exported.compiler, {"PROGRAM", "export: default: g++, else clang++"});
  return [arguments](Console& console) { run_exercise(*arguments, console); };
}

}  // namespace lockstep::cli
