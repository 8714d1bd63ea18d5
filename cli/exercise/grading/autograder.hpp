#pragma once
// The zip that Gradescope takes: setup.sh, run_autograder, the task and this program.

#include <filesystem>
#include <string>

namespace lockstep::cli {

/// `task`: a folder or file with task.toml; an own exercise goes in with all its files. `program`: the Lockstep that
/// grades; a file.
std::string make_autograder(const std::filesystem::path& task, const std::filesystem::path& program);

}  // namespace lockstep::cli
