#include "lockstep/run/directory.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <functional>
#include <iterator>
#include <limits>
#include <span>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "lockstep/core/error.hpp"
#include "lockstep/core/file.hpp"
#include "lockstep/core/folder.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/model/checkpoint_store.hpp"
#include "lockstep/run/output_folder.hpp"

namespace lockstep {

namespace fs = std::filesystem;

namespace {

constexpr const char* kFiles[] = {kConfigFile,    kMetricsFile,     kTimingsFile, kModelFile,  kProfileFile,
                                  kTraceFile,     kResultsFile,     kMachineFile, kReportFile, kStatusFile,
                                  kBestModelFile, kCertificateFile, kAnswersFile};
constexpr int kMaxRuns = 1'000'000;

/// What made a filesystem call fail, as fail_system words it.
void check(const std::error_code& error, const fs::path& path) {
  if (error) fail_system(ErrorCode::resources, path.string(), error.value());
}

bool is_run_file(const std::string& name) {
  return std::ranges::find(kFiles, name) != std::end(kFiles) || checkpoint_step(name) ||
         name.starts_with(kEventsPrefix);
}

/// What a killed run was about to give one of its names.
bool is_leftover(const std::string& name) {
  const auto target = temporary_target(name);
  return target && is_run_file(*target);
}

/// Calls visit(name) for every file of the folder.
template <class Visit>
void for_each_file(const fs::path& path, const Visit& visit) {
  std::error_code error;
  for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error))
    visit(it->path().filename().string());
  check(error, path);
}

/// What a folder holds: nothing (of value), an earlier run, or something else as well.
enum class Contents { nothing, run, other };

Contents contents_of(const fs::path& path) {
  bool configured = false, files = false, foreign = false;
  for_each_file(path, [&](const std::string& name) {
    configured = configured || name == kConfigFile;
    files = files || is_run_file(name);
    foreign = foreign || !(is_run_file(name) || is_leftover(name));
  });
  if (!foreign && !files) return Contents::nothing;
  return !foreign && configured ? Contents::run : Contents::other;
}

/// config.toml goes last: a folder in which a kill left half of a run is still known as one.
void remove_if(const fs::path& path, const std::function<bool(const std::string&)>& condition) {
  std::vector<std::string> names;
  for_each_file(path, [&](const std::string& name) {
    if (condition(name)) names.push_back(name);
  });
  std::partition(names.begin(), names.end(), [](const std::string& name) { return name != kConfigFile; });
  for (const std::string& name : names) {
    std::error_code error;
    fs::remove(path / name, error);
    check(error, path / name);
  }
}

/// runs/<name>-<n>: made here, so that two runs that start together get different ones.
fs::path make_numbered(const std::string& name) {
  make_output_folder("runs");
  for (int n = 1; n <= kMaxRuns; ++n) {
    fs::path path = fs::path("runs") / fmt::format("{}-{}", name, n);
    if (::mkdir(path.c_str(), 0777) == 0) {
      sync_entry(path);
      return path;
    }
    if (errno != EEXIST) fail_output_folder(path, errno);
  }
  throw Error(ErrorCode::resources,
              fmt::format("runs: {}-1 to {}-{} exist; clear some or name a run directory", name, name, kMaxRuns));
}

[[noreturn]] void fail_folder(const char* what, const fs::path& folder, int error_number) {
  const bool full = error_number == ENOSPC || error_number == EDQUOT || error_number == EIO || error_number == EMFILE ||
                    error_number == ENFILE || error_number == ENOMEM;
  std::string reason = std::generic_category().message(error_number);
  reason[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(reason[0])));
  throw Error(full ? ErrorCode::resources : ErrorCode::usage,
              fmt::format("{} {}: {}; choose another folder", what, one_line(folder.string()), reason));
}

}  // namespace

void fail_output_folder(const fs::path& folder, int error_number) {
  fail_folder("cannot create", folder, error_number);
}

void make_output_folder(const fs::path& folder) {
  std::error_code error;
  fs::path whole = fs::absolute(folder).lexically_normal();
  if (!whole.has_filename()) whole = whole.parent_path();  // it ended with a slash
  fs::path known = whole;
  while (known.has_relative_path() && !fs::exists(known, error)) known = known.parent_path();
  fs::create_directories(folder, error);
  if (error) fail_output_folder(folder, error.value());
  // Files that were synced in it would be lost with it.
  sync_made_folders(whole, known);
  if (::access(folder.c_str(), W_OK | X_OK) != 0) fail_folder("cannot write to", folder, errno);
}

void check_run_directory(const RunDirectoryOptions& options) {
  if (options.path.empty()) return;
  std::error_code error;
  const fs::file_status status = fs::status(options.path, error);
  if (!fs::exists(status)) return;
  if (!fs::is_directory(status))
    throw Error(ErrorCode::usage, fmt::format("run directory {}: is a file, not a folder; give another", options.path));
  const Contents contents = contents_of(options.path);
  if (contents == Contents::nothing) return;
  if (contents == Contents::other)
    throw Error(ErrorCode::usage,
                fmt::format("run directory {}: the folder holds other files; give a new or empty one", options.path));
  if (!options.overwrite && !options.resume)
    throw Error(ErrorCode::usage,
                fmt::format("run directory {}: holds an earlier run; give another folder, {}or overwrite it",
                            options.path, options.resumable ? "resume it, " : ""));
}

RunDirectory::RunDirectory(const RunDirectoryOptions& options) {
  check_run_directory(options);
  if (options.path.empty()) {
    path_ = make_numbered(options.name);
  } else {
    path_ = options.path;
    make_output_folder(path_);
  }
  descriptor_ = ::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor_ < 0) fail_system(ErrorCode::resources, path_.string(), errno);
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
    const int number = errno;
    ::close(descriptor_);
    if (number == EWOULDBLOCK)
      throw Error(ErrorCode::in_use,
                  fmt::format("{}: another run is writing here; give another run directory", path_.string()));
    // A file system without locks: go on without.
    if (number != ENOLCK && number != EOPNOTSUPP) fail_system(ErrorCode::resources, path_.string(), number);
    descriptor_ = -1;
  }
  if (options.resume)
    remove_if(path_, is_leftover);
  else
    clear();
}

void RunDirectory::clear() const {
  remove_if(path_, [](const std::string& name) { return is_run_file(name) || is_leftover(name); });
}

RunDirectory::~RunDirectory() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

LineFile::LineFile(fs::path path, std::int64_t kept) : path_(std::move(path)), bytes_(kept) {
  if (kept > 0) {
    const std::vector<std::byte> all =
        read_file(path_, std::numeric_limits<std::int64_t>::max(), ErrorCode::checkpoint);
    hash_.update(std::span(all).first(static_cast<std::size_t>(kept)));
  }
  descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor_ < 0 || ::ftruncate(descriptor_, kept) != 0) fail_system(ErrorCode::resources, path_.string(), errno);
}

LineFile::~LineFile() { ::close(descriptor_); }

void LineFile::append(std::string_view text) {
  const std::string line = fmt::format("{}\n", text);
  std::string_view rest = line;
  while (!rest.empty()) {
    const ssize_t written = ::write(descriptor_, rest.data(), rest.size());
    if (written < 0 && errno != EINTR) fail_system(ErrorCode::resources, path_.string(), errno);
    if (written > 0) rest.remove_prefix(static_cast<std::size_t>(written));
  }
  bytes_ += static_cast<std::int64_t>(line.size());
  hash_.update(std::as_bytes(std::span(line)));
}

std::string LineFile::sha256() const { return to_hex(Sha256(hash_).finish()); }

void LineFile::sync() const {
  // EINVAL: a file system that cannot do it, or no file at all (--out with a link to a device).
  if (::fdatasync(descriptor_) != 0 && errno != EINVAL) fail_system(ErrorCode::resources, path_.string(), errno);
  // Its name, too: a checkpoint whose name survives a power cut needs the lines that it counts.
  if (!named_.exchange(true)) sync_entry(path_);
}

}  // namespace lockstep
