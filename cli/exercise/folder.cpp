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

namespace {

constexpr const char* kTaskFile = "task.toml";

void check_track(const Exercise& exercise, const Track& track) {
  if (std::find(exercise.tracks.begin(), exercise.tracks.end(), track.name) != exercise.tracks.end()) return;
  throw Error(ErrorCode::usage, fmt::format("{} has no track {}; it has {}", exercise.name, track.name,
                                            fmt::join(exercise.tracks, ", ")));
}

std::string text_of(const Value& table, const char* key, const std::string& name) {
  const Value* const value = table.find(key);
  if (value == nullptr || value->string() == nullptr)
    throw Error(ErrorCode::usage,
                fmt::format("{}: {} is missing or no text; `lockstep exercise new` writes it", name, key));
  return *value->string();
}

}  // namespace

ExerciseFolder make_exercise_folder(const fs::path& path, const Exercise& exercise, const Track& track) {
  check_track(exercise, track);
  if (fs::exists(path))
    throw Error(ErrorCode::usage,
                fmt::format("{} exists; give another folder with --out, or remove it", one_line(path.string())));
  fs::create_directories(path);
  write_file_atomically(path / kTaskFile,
                        fmt::format("exercise = \"{}\"\ntrack = \"{}\"\n", exercise.name, track.name));
  write_file_atomically(path / "TASK.md", task_text(exercise, track));
  write_file_atomically(path / "lockstep_exercise.h", header_text(exercise));
  write_file_atomically(path / track.source, stub_text(exercise, track));
  return open_exercise_folder(path);
}

ExerciseFolder open_exercise_folder(const fs::path& path) {
  const std::string name = one_line((path / kTaskFile).string());
  if (!fs::exists(path / kTaskFile))
    throw Error(ErrorCode::usage,
                fmt::format("{}: no such file; check takes a folder that `lockstep exercise new` made", name));
  const Value table = parse_toml(read_text(path / kTaskFile, kMaxConfigBytes, ErrorCode::usage), name);
  ExerciseFolder folder{.path = path,
                        .task = {.exercise = text_of(table, "exercise", name), .track = text_of(table, "track", name)}};
  folder.exercise = &exercise_named(folder.task.exercise);
  folder.track = &track_named(folder.task.track);
  check_track(*folder.exercise, *folder.track);
  if (!fs::exists(folder.source()))
    throw Error(ErrorCode::usage,
                fmt::format("{}: no such file; it holds your code", one_line(folder.source().string())));
  return folder;
}

}  // namespace lockstep::cli
