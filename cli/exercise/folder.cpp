#include "cli/exercise/folder.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lockstep/config/toml.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/file.hpp"
#include "lockstep/core/words.hpp"

namespace lockstep::cli {

namespace fs = std::filesystem;

void check_track(const Exercise& exercise, const Track& track) {
  if (std::find(exercise.tracks.begin(), exercise.tracks.end(), track.name) != exercise.tracks.end()) return;
  throw Error(ErrorCode::usage, fmt::format("{} has no track {}; it has {}", exercise.name, track.name,
                                            fmt::join(exercise.tracks, ", ")));
}

ChosenExercise open_own_exercise(const fs::path& folder) {
  const std::string name = one_line((folder / kTaskFile).string());
  if (!fs::exists(folder / kTaskFile))
    throw Error(ErrorCode::usage, fmt::format("{}: no such file; an own exercise is a folder with one", name));
  const TaskSettings task = read_task_file(folder / kTaskFile);
  if (!task.definition)
    throw Error(ErrorCode::usage, fmt::format("{}: no table [definition]; see docs/course/own-exercise.md", name));
  ChosenExercise chosen{.own = read_definition(folder, *task.definition)};
  chosen.exercise = &chosen.own->exercise;
  return chosen;
}

ChosenExercise choose_exercise(const std::string& text, const fs::path& base) {
  if (text.find('/') == std::string::npos) return {.exercise = &exercise_named(text)};
  return open_own_exercise((base / text).lexically_normal());
}

ExerciseFolder make_exercise_folder(const fs::path& path, const ChosenExercise& exercise, const Track& track) {
  check_track(*exercise, track);
  if (fs::exists(path))
    throw Error(ErrorCode::usage,
                fmt::format("{} exists; give another folder with --out, or remove it", one_line(path.string())));
  fs::create_directories(path);
  std::string name = exercise->name;
  if (exercise.own != nullptr) name = fs::relative(exercise.own->folder, path).string() + "/";
  write_file_atomically(path / kTaskFile, fmt::format("exercise = {}\ntrack = \"{}\"\n", toml_quote(name), track.name));
  write_file_atomically(path / "TASK.md", task_text(*exercise, track));
  write_file_atomically(path / header_file(track),
                        track.python ? python_header_text(*exercise) : header_text(*exercise));
  write_file_atomically(path / track.source, stub_text(*exercise, track));
  return open_exercise_folder(path);
}

ExerciseFolder open_exercise_folder(const fs::path& path) {
  const std::string name = one_line((path / kTaskFile).string());
  if (!fs::exists(path / kTaskFile))
    throw Error(ErrorCode::usage,
                fmt::format("{}: no such file; check takes a folder that `lockstep exercise new` made", name));
  ExerciseFolder folder{.path = path, .task = read_task_file(path / kTaskFile)};
  if (folder.task.definition)
    throw Error(ErrorCode::usage,
                fmt::format("{} defines an exercise; a folder to solve it in: lockstep exercise new {}/ "
                            "--out DIR; to test it: lockstep exercise test {}",
                            name, one_line(path.string()), one_line(path.string())));
  folder.exercise = choose_exercise(folder.task.exercise, path);
  folder.track = &track_named(folder.task.track);
  check_track(*folder.exercise, *folder.track);
  if (!fs::exists(folder.source()))
    throw Error(ErrorCode::usage,
                fmt::format("{}: no such file; it holds your code", one_line(folder.source().string())));
  return folder;
}

}  // namespace lockstep::cli
