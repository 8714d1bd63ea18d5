#pragma once
// worklog.jsonl: a line for every check of a folder. worklog.html: the way from the first wrong version to the last.

#include <filesystem>
#include <vector>

#include "cli/exercise/check/verdict.hpp"
#include "cli/exercise/folder.hpp"
#include "cli/output/json.hpp"
#include "lockstep/lab/report/document.hpp"

namespace lockstep::cli {

/// The lines so far; a line that is no JSON object is Error(data), with its number.
std::vector<Json> read_work_log(const std::filesystem::path& file);

/// Adds a line, and makes the page again.
void add_to_work_log(const ExerciseFolder& folder, const Verdict& verdict);

/// Every check, with verdict, cause and times.
report::Table checks_table(const std::vector<Json>& lines);
/// Times check by check, and the last right kernel beside ours. Nothing where no check was measured.
void add_speed_charts(const std::vector<Json>& lines, report::Section& section);

/// Whether a check of the folder was right once.
bool solved(const std::filesystem::path& file);

}  // namespace lockstep::cli
