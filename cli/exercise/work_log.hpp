#pragma once
// worklog.jsonl: a line for every check of a folder. worklog.html: the way from the first wrong version to the last.

#include <filesystem>
#include <vector>

#include "cli/exercise/check/verdict.hpp"
#include "cli/exercise/folder.hpp"
#include "cli/output/json.hpp"

namespace lockstep::cli {

/// The lines so far; a line that is no JSON object is Error(data), with its number.
std::vector<Json> read_work_log(const std::filesystem::path& file);

/// Adds a line, and makes the page again.
void add_to_work_log(const ExerciseFolder& folder, const Verdict& verdict);

/// Whether a check of the folder was right once.
bool solved(const std::filesystem::path& file);

}  // namespace lockstep::cli
