#include "lockstep/core/file.hpp"

#include <atomic>
#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lockstep/core/folder.hpp"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTemporaryEnding = ".tmp";

/// Closes its file descriptor when it goes out of scope, after an error too.
class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return value_; }
  /// Some file systems report a failed write only here.
  bool close() { return ::close(std::exchange(value_, -1)) == 0; }

 private:
  int value_;
};

/// The file under construction, removed unless it was given its final name.
class TemporaryFile {
 public:
  explicit TemporaryFile(const fs::path& target) : target_(target), descriptor_(create()) {}
  ~TemporaryFile() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  void write(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ::ssize_t done = ::write(descriptor_.get(), bytes.data(), bytes.size());
      if (done < 0 && errno == EINTR) continue;
      if (done < 0) fail("cannot write");
      bytes = bytes.subspan(static_cast<std::size_t>(done));
    }
  }

  void set_mode(::mode_t mode) {
    if (::fchmod(descriptor_.get(), mode) != 0) fail("cannot set the permissions");
  }

  void rename_to_target() {
    // Renamed before its bytes are on the disk, a power cut could leave an empty file under the final name.
    if (::fsync(descriptor_.get()) != 0 || !descriptor_.close()) fail("cannot write");
    if (::rename(path_.c_str(), target_.c_str()) != 0) fail("cannot rename the finished file to this name");
    path_.clear();
  }

 private:
  [[noreturn]] void fail(std::string_view what, ErrorCode code = ErrorCode::resources) const {
    fail_system(code, fmt::format("{}: {}", target_.string(), what), errno);
  }

  int create() {
    // Unique among the threads and processes that share the folder; a stale one of a killed process is stepped over.
    static std::atomic<unsigned> counter = 0;
    while (true) {
      // A long name is shortened: with the suffix it must still be a legal name.
      const std::string name = target_.filename().string().substr(0, 200);
      path_ = target_.parent_path() / fmt::format(".{}.{}.{}{}", name, ::getpid(), counter++, kTemporaryEnding);
      const int opened = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      if (opened >= 0) return opened;
      if (errno != EEXIST) {
        path_.clear();
        // A folder that is not there, or is a file, is a mistake of the user; a full disk is not.
        const bool wrong_place = errno == ENOENT || errno == ENOTDIR || errno == EACCES;
        fail("cannot create a file in this folder", wrong_place ? ErrorCode::usage : ErrorCode::resources);
      }
    }
  }

  const fs::path& target_;
  fs::path path_;
  Descriptor descriptor_;
};

/// The file a link leads to, so that the link survives.
fs::path follow_links(const fs::path& path) {
  std::error_code error;
  if (!fs::is_symlink(path, error)) return path;
  fs::path target = fs::weakly_canonical(path, error);
  if (error) fail_system(ErrorCode::resources, fmt::format("{}: cannot follow the link", path.string()), error.value());
  return target;
}

}  // namespace

void sync_entry(const fs::path& path) {
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  const Descriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // EINVAL: a file system that cannot do it. A folder that may be written but not read cannot be opened at all.
  if (opened.get() < 0 || ::fsync(opened.get()) == 0 || errno == EINVAL) return;
  fail_system(ErrorCode::resources, fmt::format("{}: cannot write the folder", path.string()), errno);
}

void sync_made_folders(const fs::path& folder, const fs::path& known) {
  for (fs::path made = folder; made != known && made.has_relative_path(); made = made.parent_path()) sync_entry(made);
}

std::vector<std::byte> read_file(const fs::path& path, std::int64_t max_bytes, ErrorCode code) {
  // O_NONBLOCK: opening a named pipe must not wait for a writer; it is refused below.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) fail_system(code, fmt::format("{}: cannot open", path.string()), errno);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode))
    throw Error(code, fmt::format("{}: not a regular file", path.string()));
  if (status.st_size > max_bytes)
    throw Error(code, fmt::format("{}: {} bytes, at most {} are read", path.string(), status.st_size, max_bytes));
  std::vector<std::byte> bytes(static_cast<std::size_t>(status.st_size));
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ::ssize_t got = ::read(file.get(), bytes.data() + done, bytes.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_system(code, fmt::format("{}: byte {}: cannot read", path.string(), done), errno);
    if (got == 0)
      throw Error(code, fmt::format("{}: byte {}: the file became shorter while read", path.string(), done));
    done += static_cast<std::size_t>(got);
  }
  return bytes;
}

std::string read_text(const fs::path& path, std::int64_t max_bytes, ErrorCode code) {
  const std::vector<std::byte> bytes = read_file(path, max_bytes, code);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void write_file_atomically(const fs::path& path, std::span<const std::byte> bytes) {
  const fs::path target = follow_links(path);
  struct stat old {};
  const bool exists = ::stat(target.c_str(), &old) == 0;
  // Renaming over a device or a folder would replace it (or fail in words that say nothing).
  if (exists && !S_ISREG(old.st_mode))
    throw Error(ErrorCode::resources, fmt::format("{}: not a regular file, it is left alone", path.string()));
  TemporaryFile file(target);
  if (exists) file.set_mode(old.st_mode & 07777);
  file.write(bytes);
  file.rename_to_target();
  sync_entry(target);
}

void write_file_atomically(const fs::path& path, std::string_view text) {
  write_file_atomically(path, std::as_bytes(std::span(text)));
}

std::optional<std::string> temporary_target(std::string_view name) {
  if (!name.starts_with('.')) return std::nullopt;
  name.remove_prefix(1);
  if (!name.ends_with(kTemporaryEnding)) return std::nullopt;
  name.remove_suffix(kTemporaryEnding.size());
  for (int number = 0; number < 2; ++number) {                    // the counter, then the process
    const auto digits = name.find_last_not_of("0123456789") + 1;  // npos + 1 == 0: nothing else
    if (digits == 0 || digits == name.size() || name[digits - 1] != '.') return std::nullopt;
    name = name.substr(0, digits - 1);
  }
  if (name.empty()) return std::nullopt;
  return std::string(name);
}

}  // namespace lockstep
