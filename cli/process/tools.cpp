#include "cli/process/tools.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/process/captured.hpp"
#include "lockstep/core/environment.hpp"
#include "lockstep/core/error.hpp"

namespace lockstep::cli {

namespace fs = std::filesystem;

namespace {

constexpr std::chrono::seconds kImport{60};  // PyTorch from a cold disk takes 20

bool imports(const std::string& python, const std::vector<std::string>& modules) {
  const std::string line = modules.empty() ? "pass" : fmt::format("import {}", fmt::join(modules, ", "));
  return run_captured({python, "-c", line}, {.patience = kImport}).ok();
}

}  // namespace

void start_detached(const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files{};
  posix_spawnattr_t session{};
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&session);
  posix_spawnattr_setflags(&session, POSIX_SPAWN_SETSID);
  for (const int stream : {0, 1, 2}) posix_spawn_file_actions_addopen(&files, stream, "/dev/null", O_RDWR, 0);
  pid_t process = 0;
  const int error = posix_spawn(&process, arguments[0], &files, &session, arguments.data(), environ);
  posix_spawnattr_destroy(&session);
  posix_spawn_file_actions_destroy(&files);
  if (error != 0) fail_system(ErrorCode::resources, words[0], error);
}

std::string own_program() { return fs::read_symlink("/proc/self/exe").string(); }

std::optional<std::string> find_program(const std::string& name) {
  std::istringstream folders(environment_text("PATH").value_or(""));
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path path = fs::path(folder) / name;
    if (!folder.empty() && ::access(path.c_str(), X_OK) == 0 && !fs::is_directory(path)) return path.string();
  }
  return std::nullopt;
}

std::optional<fs::path> find_in_tree(const fs::path& file) {
  std::error_code error;
  if (fs::exists(file, error)) return file;
  // build/lockstep, build/release/cli/lockstep: the tree is a few folders above.
  fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (int up = 0; up < 5 && folder.has_relative_path(); ++up, folder = folder.parent_path())
    if (fs::exists(folder / file, error)) return folder / file;
  return std::nullopt;
}

std::optional<std::string> find_python(const std::vector<std::string>& modules) {
  std::vector<std::string> candidates;
  if (const auto given = environment_text("LOCKSTEP_PYTHON")) {
    if (::access(given->c_str(), X_OK) != 0 && !find_program(*given))
      throw Error(ErrorCode::usage,
                  fmt::format("LOCKSTEP_PYTHON={}: no such program; set it to a Python, or unset it", *given));
    candidates.push_back(*given);
  }
  for (const char* const name : {"build/venv-peers/bin/python3", "build/venv/bin/python3"})
    if (const auto found = find_in_tree(name)) candidates.push_back(found->string());
  if (const auto found = find_program("python3")) candidates.push_back(*found);
  for (const std::string& candidate : candidates)
    if (imports(candidate, modules)) return candidate;
  return std::nullopt;
}

TemporaryFolder::TemporaryFolder(const std::string& purpose) {
  std::string name = (fs::temp_directory_path() / fmt::format("lockstep-{}-XXXXXX", purpose)).string();
  if (::mkdtemp(name.data()) == nullptr) fail_system(ErrorCode::resources, name, errno);
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace lockstep::cli
