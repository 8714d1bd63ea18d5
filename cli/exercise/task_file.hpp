#pragma once
// task.toml: which exercise a folder is about, and how a teacher grades it. Read strictly: an unknown key, a wrong type
// and a number out of range are refused in one line with the line of the file.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "lockstep/config/value.hpp"

namespace lockstep::cli {

inline constexpr const char* kTaskFile = "task.toml";

/// Points for a speed: from this share on.
struct PointStep {
  double share = 0, points = 0;
};

/// The table [grading].
struct Grading {
  double points = 10;                  // for a right kernel
  double another_order = 0;            // for one that is right within rounding
  std::vector<PointStep> simd{};       // for a share of our SIMD kernel's speed; each step reached adds its points
  std::vector<PointStep> roof{};       // for a share of what the machine allows
  std::vector<std::uint64_t> seeds{};  // secret ones, all of which must be right; none: another one in every check
  double limit = 10;                   // seconds that one call may take
  std::vector<std::string> tracks{};   // allowed ones; none: all that the exercise has
  std::string visibility = "visible";  // of the tests on Gradescope
  bool leaderboard = true;

  /// The sum of everything that can be reached.
  double most() const;
  bool needs_speed() const { return !simd.empty() || !roof.empty() || leaderboard; }
};

/// What task.toml says.
struct TaskSettings {
  std::string exercise{}, track{};    // empty in the file of an own exercise
  std::optional<Grading> grading{};   // nothing: the file has no such table
  std::optional<Value> definition{};  // of an own exercise; own/definition.hpp reads it
};

/// Error(usage), in one line.
TaskSettings read_task_file(const std::filesystem::path& file);

}  // namespace lockstep::cli
