#pragma once
// A grade for other programs and for people.

#include "cli/exercise/grading/grade.hpp"
#include "cli/output/json.hpp"

namespace lockstep::cli {

/// results.json of Gradescope (https://gradescope-autograders.readthedocs.io/en/latest/specs/): score, tests,
/// visibility, leaderboard.
Json gradescope_results(const Grade& grade);
/// Everything: points, tests and the verdict with the keys of `lockstep check --json`.
Json grade_json(const Grade& grade);
/// JUnit XML: one suite, one case for everything that gives points.
std::string grade_junit(const Grade& grade);
/// A page of Markdown.
std::string grade_markdown(const Grade& grade);

}  // namespace lockstep::cli
