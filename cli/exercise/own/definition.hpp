#pragma once
// An exercise from a folder: the table [definition] of its task.toml, the task in words, the oracle and wrong variants.
// docs/course/own-exercise.md describes the keys.

#include <filesystem>
#include <memory>

#include "cli/exercise/exercise.hpp"
#include "lockstep/config/value.hpp"

namespace lockstep::cli {

/// The record, and the files that it is made of.
struct OwnExercise {
  Exercise exercise{};
  std::filesystem::path folder{};
  std::filesystem::path oracle{};
  std::vector<std::filesystem::path> mistakes{};  // in the order of exercise.mistakes
};

/// Error(usage) in one line for anything that is missing, unknown or does not fit together.
std::shared_ptr<const OwnExercise> read_definition(const std::filesystem::path& folder, const Value& definition);

}  // namespace lockstep::cli
