#pragma once
// The folder of a measurement: results.jsonl and the report made from it.

#include <filesystem>
#include <string>
#include <vector>

#include "lockstep/lab/results.hpp"

namespace lockstep::cli {

/// `path`, or runs/<name>-<n> with the first n that is free; made where it is missing. Error(usage) when it holds
/// something else than an earlier measurement that may be replaced.
std::filesystem::path prepare_results_folder(const std::string& path, const std::string& name, bool overwrite);

/// Replaces the results of an earlier measurement.
void write_results(const std::filesystem::path& folder, const std::vector<Result>& results);

}  // namespace lockstep::cli
