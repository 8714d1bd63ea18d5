#pragma once
// A submission with points: what task.toml promises for a right kernel and for its speed.

#include <filesystem>
#include <string>
#include <vector>

#include "cli/exercise/check/verdict.hpp"
#include "cli/exercise/folder.hpp"
#include "cli/output/console.hpp"

namespace lockstep::cli {

/// One thing that gives points.
struct GradedTest {
  std::string name{};
  double score = 0, most = 0;
  bool passed = false;
  std::string output{};  // for the student; names no secret seed
};

struct Grade {
  std::string exercise{}, track{};
  Grading grading{};
  std::vector<GradedTest> tests{};
  std::optional<Verdict> verdict{};  // nothing: the submission could not be checked
  double seconds = 0;

  double score() const;
  double most() const { return grading.most(); }
};

/// Points of verdicts, one for every secret seed; the first one was measured. Never empty.
Grade grade_verdicts(const Grading& grading, const std::vector<Verdict>& verdicts);
/// "7 of 10 points."
std::string points_text(const Grade& grade);

/// The task of a teacher: a folder or file with task.toml. `submission` where it has none of its own.
struct GradedTask {
  Grading grading{};
  ChosenExercise exercise{};
  std::string track{};  // of the teacher's file; empty in an own exercise: the first that is allowed
};
GradedTask open_graded_task(const std::filesystem::path& path);

struct GradeRequest {
  std::filesystem::path submission{};  // the student's folder
  std::filesystem::path task{};        // empty: the submission's own task.toml
  std::string compiler{};
};

/// A submission that cannot be checked (no file, another exercise, a track that is not allowed) has 0 points and says
/// why. Error(usage) for what is wrong with the task.
Grade grade_submission(const GradeRequest& request, Console& console);

}  // namespace lockstep::cli
