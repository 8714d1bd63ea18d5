#include "cli/run_directory.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include <fmt/format.h>

#include "lockstep/core/error.hpp"

namespace lockstep::cli {

namespace fs = std::filesystem;

namespace {

constexpr const char* kFiles[] = {kConfigFile, kMetricsFile, kTimingsFile, kModelFile, kProfileFile, kTraceFile};
constexpr int kMaxRuns = 1'000'000;

/// What made a filesystem call fail, as fail_system words it.
void check(const std::error_code& error, const fs::path& path) {
  if (error) fail_system(ExitCode::resources, path.string(), error.value());
}

/// Only what a run writes, and at least its configuration.
bool is_earlier_run(const fs::path& path) {
  std::error_code error;
  if (!fs::exists(path / kConfigFile, error)) return false;
  for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
    bool ours = false;
    for (const char* name : kFiles) ours = ours || it->path().filename() == name;
    if (!ours) return false;
  }
  return !error;
}

/// runs/<name>-<n>: made here, so that two runs that start together get different ones.
fs::path make_numbered(const std::string& name) {
  std::error_code error;
  fs::create_directories("runs", error);
  check(error, "runs");
  for (int n = 1; n <= kMaxRuns; ++n) {
    const fs::path path = fs::path("runs") / fmt::format("{}-{}", name, n);
    if (::mkdir(path.c_str(), 0777) == 0) return path;
    if (errno != EEXIST) fail_system(ExitCode::resources, path.string(), errno);
  }
  throw Error(ExitCode::resources,
              fmt::format("runs: {}-1 to {}-{} exist; clear some or give --out", name, name, kMaxRuns));
}

}  // namespace

void check_run_directory(const RunDirectoryOptions& options) {
  if (options.path.empty()) return;
  std::error_code error;
  const fs::file_status status = fs::status(options.path, error);
  if (!fs::exists(status)) return;
  if (!fs::is_directory(status))
    throw Error(ExitCode::usage, fmt::format("--out {}: is a file, not a folder; give another", options.path));
  const bool empty = fs::is_empty(options.path, error);
  check(error, options.path);
  if (empty) return;
  if (!is_earlier_run(options.path))
    throw Error(ExitCode::usage,
                fmt::format("--out {}: the folder holds other files; give a new or empty one", options.path));
  if (!options.overwrite)
    throw Error(
        ExitCode::usage,
        fmt::format("--out {}: holds an earlier run; give another folder, or --overwrite to replace it", options.path));
}

RunDirectory::RunDirectory(const RunDirectoryOptions& options) {
  check_run_directory(options);
  std::error_code error;
  if (options.path.empty()) {
    path_ = make_numbered(options.name);
  } else {
    path_ = options.path;
    fs::create_directories(path_, error);
    check(error, path_);
  }
  descriptor_ = ::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor_ < 0) fail_system(ExitCode::resources, path_.string(), errno);
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
    const int number = errno;
    ::close(descriptor_);
    if (number == EWOULDBLOCK)
      throw Error(ExitCode::in_use, fmt::format("{}: another run is writing here; give another --out", path_.string()));
    // A file system without locks: go on without.
    if (number != ENOLCK && number != EOPNOTSUPP) fail_system(ExitCode::resources, path_.string(), number);
    descriptor_ = -1;
  }
  for (const char* name : kFiles) {
    fs::remove(path_ / name, error);
    check(error, path_ / name);
  }
}

RunDirectory::~RunDirectory() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

LineFile::LineFile(fs::path path) : path_(std::move(path)) {
  descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor_ < 0) fail_system(ExitCode::resources, path_.string(), errno);
}

LineFile::~LineFile() { ::close(descriptor_); }

void LineFile::append(std::string_view text) {
  const std::string line = fmt::format("{}\n", text);
  std::string_view rest = line;
  while (!rest.empty()) {
    const ssize_t written = ::write(descriptor_, rest.data(), rest.size());
    if (written < 0 && errno != EINTR) fail_system(ExitCode::resources, path_.string(), errno);
    if (written > 0) rest.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace lockstep::cli
