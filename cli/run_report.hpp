#pragma once
// The report of a training run: report.html in its folder.

#include <filesystem>

#include "cli/console.hpp"
#include "lockstep/lab/report/document.hpp"

namespace lockstep::cli {

/// From the files of the run alone: config.toml, metrics.jsonl, timings.jsonl, machine.json, model.safetensors; the
/// last three may be missing. Error(data) that names the line for what cannot be read.
report::Document run_document(const std::filesystem::path& directory);

/// Writes machine.json and report.html. A report that cannot be written is a note, not a failure of the training.
void write_run_report(const std::filesystem::path& directory, Console& console) noexcept;

}  // namespace lockstep::cli
