#pragma once
// The folder of one exercise: task, stub, header, and task.toml, which says what it is.

#include <filesystem>
#include <string>

#include "cli/exercise/track.hpp"

namespace lockstep::cli {

/// What task.toml says.
struct TaskSettings {
  std::string exercise{}, track{};
};

struct ExerciseFolder {
  std::filesystem::path path{};
  TaskSettings task{};
  const Exercise* exercise = nullptr;
  const Track* track = nullptr;

  std::filesystem::path source() const { return path / track->source; }
  std::filesystem::path work_log() const { return path / "worklog.jsonl"; }
};

/// Error(usage) where it is there already, or the exercise does not have the track.
ExerciseFolder make_exercise_folder(const std::filesystem::path& path, const Exercise& exercise, const Track& track);

/// Error(usage) where it is no folder of an exercise.
ExerciseFolder open_exercise_folder(const std::filesystem::path& path);

}  // namespace lockstep::cli
