#include "cli/exercise/grading/export_command.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/exercise/check/check.hpp"
#include "cli/exercise/grading/autograder.hpp"
#include "cli/exercise/grading/formats.hpp"
#include "cli/process/tools.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/file.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/lab/text_table.hpp"

namespace lockstep::cli {

namespace fs = std::filesystem;

namespace {

std::string dumped(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

std::string exported(const ExportArguments& arguments, Console& console) {
  const Grade grade = grade_submission(
      {.submission = arguments.folder, .task = arguments.task, .compiler = arguments.compiler}, console);
  if (arguments.results) return dumped(gradescope_results(grade));
  if (arguments.junit) return grade_junit(grade);
  if (arguments.markdown) return grade_markdown(grade);
  return dumped(grade_json(grade));
}

}  // namespace

void export_exercise(const ExportArguments& arguments, Console& console) {
  const int forms = arguments.gradescope + arguments.results + arguments.junit + arguments.markdown + console.json();
  if (forms != 1)
    throw Error(ErrorCode::usage,
                "exercise export takes one of --gradescope, --results, --junit, --json and --markdown");
  if (arguments.gradescope) {
    if (!arguments.task.empty())
      throw Error(ErrorCode::usage, "--gradescope takes no --task: the folder itself is the task");
    const fs::path out = arguments.out.empty() ? "autograder.zip" : arguments.out;
    const std::string zip =
        make_autograder(arguments.folder, arguments.program.empty() ? own_program() : arguments.program);
    write_file_atomically(out, zip);
    return console.print(fmt::format("{}: upload it as the autograder of a programming assignment ({:.1f} MB)\n",
                                     one_line(out.string()), double(zip.size()) * 1e-6));
  }
  const std::string text = exported(arguments, console);
  if (arguments.out.empty()) return console.print(text);
  write_file_atomically(arguments.out, text);
}

void test_own_exercise(const std::string& folder, Console& console) {
  const ChosenExercise chosen = open_own_exercise(folder);
  const Exercise& exercise = *chosen;
  // Its sources are C++: a track that takes such a file.
  const auto& names = exercise.tracks;
  const auto cpp = std::find_if(names.begin(), names.end(),
                                [](const std::string& name) { return track_named(name).source == "kernel.cpp"; });
  const Track& track = cpp == names.end() ? track_named("cpp") : track_named(*cpp);
  TextTable table("llll");
  table.row({"source", "expected", "verdict", ""});
  Json rows = Json::array();
  int faults = 0;
  const auto check = [&](const fs::path& source, const std::string& cause) {
    const Verdict verdict =
        check_kernel(exercise, track, {.source = source, .sanitize = cause.empty(), .speed = cause.empty()}, console);
    const bool good = cause.empty() ? verdict.right() : !verdict.right() && verdict.cause == cause;
    faults += good ? 0 : 1;
    const std::string name = one_line(fs::relative(source, chosen.own->folder).string());
    const std::string found =
        fmt::format("{}{}{}", name_of(verdict.tier), verdict.cause.empty() ? "" : ": ", verdict.cause);
    table.row({name, cause.empty() ? "right" : cause, found, good ? "" : "<- not as expected"});
    rows.push_back({{"source", name},
                    {"expected", cause.empty() ? "right" : cause},
                    {"verdict", name_of(verdict.tier)},
                    {"cause", verdict.cause},
                    {"as_expected", good}});
  };
  check(chosen.own->oracle, "");
  for (std::size_t i = 0; i < chosen.own->mistakes.size(); ++i)
    check(chosen.own->mistakes[i], exercise.mistakes[i].cause);
  console.print(console.json() ? dumped(rows) : table.str());
  if (faults > 0)
    throw Error(
        ErrorCode::integrity,
        fmt::format("{}: {} not judged as expected; two mistakes that give the same results share a cause, and an "
                    "oracle must be right on all its shapes",
                    one_line(folder), count_of(faults, "source")));
}

}  // namespace lockstep::cli
