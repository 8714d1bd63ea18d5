#pragma once
// The folder of one exercise: task, stub, header, and task.toml, which says what it is.

#include <filesystem>
#include <string>

#include "cli/exercise/own/definition.hpp"
#include "cli/exercise/task_file.hpp"
#include "cli/exercise/track.hpp"

namespace lockstep::cli {

/// The exercise that a task is about: one of ours, or an own one from a folder.
struct ChosenExercise {
  const Exercise* exercise = nullptr;
  std::shared_ptr<const OwnExercise> own{};  // keeps it; null: one of ours

  const Exercise* operator->() const { return exercise; }
  const Exercise& operator*() const { return *exercise; }
};

/// A name, or the path of a folder with an own exercise: a text with a slash, relative to `base`. Error(usage).
ChosenExercise choose_exercise(const std::string& text, const std::filesystem::path& base);
/// The own exercise of a folder. Error(usage) where its task.toml has no [definition].
ChosenExercise open_own_exercise(const std::filesystem::path& folder);

struct ExerciseFolder {
  std::filesystem::path path{};
  TaskSettings task{};
  ChosenExercise exercise{};
  const Track* track = nullptr;

  std::filesystem::path source() const { return path / track->source; }
  std::filesystem::path work_log() const { return path / "worklog.jsonl"; }
};

/// Error(usage) where it is there already, or the exercise does not have the track.
ExerciseFolder make_exercise_folder(const std::filesystem::path& path, const ChosenExercise& exercise,
                                    const Track& track);
/// Error(usage) where the exercise does not have the track.
void check_track(const Exercise& exercise, const Track& track);

/// Error(usage) where it is no folder of an exercise.
ExerciseFolder open_exercise_folder(const std::filesystem::path& path);

}  // namespace lockstep::cli
