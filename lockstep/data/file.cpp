#include "lockstep/data/file.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lockstep/core/error.hpp"
#include "lockstep/data/bytes.hpp"

namespace lockstep {

File::File(const std::filesystem::path& path) : name_(path.string()) {
  // O_NONBLOCK: opening a named pipe must not wait for a writer; it is refused below.
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor_ < 0) fail_system(ErrorCode::data, fmt::format("{}: cannot open", name_), errno);
  struct stat status {};
  const bool known = ::fstat(descriptor_, &status) == 0;
  if (!known || !S_ISREG(status.st_mode)) {
    ::close(descriptor_);
    throw Error(ErrorCode::data, fmt::format("{}: not a regular file, a data file was expected", name_));
  }
  size_ = static_cast<std::int64_t>(status.st_size);
}

File::File(File&& other) noexcept
    : name_(std::move(other.name_)), descriptor_(std::exchange(other.descriptor_, -1)), size_(other.size_) {}

File::~File() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void File::read_at(std::int64_t offset, std::span<std::byte> out) const {
  while (!out.empty()) {
    const ::ssize_t got = ::pread(descriptor_, out.data(), out.size(), static_cast<::off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_system(ErrorCode::data, fmt::format("{}: byte {}: cannot read", name_, offset), errno);
    if (got == 0)
      fail_data(name_, offset,
                fmt::format("the file ends here, {} more bytes were expected; it had {} bytes when it was opened",
                            out.size(), size_));
    out = out.subspan(static_cast<std::size_t>(got));
    offset += got;
  }
}

std::vector<std::byte> read_standard_input() {
  constexpr std::size_t kStep = std::size_t{1} << 20, kMost = std::size_t{1} << 34;
  std::vector<std::byte> bytes;
  while (true) {
    const std::size_t had = bytes.size();
    if (had >= kMost) throw Error(ErrorCode::data, "standard input: more than 16 GiB; give a file");
    bytes.resize(had + kStep);
    const ::ssize_t got = ::read(STDIN_FILENO, bytes.data() + had, kStep);
    if (got < 0 && errno != EINTR) fail_system(ErrorCode::data, "standard input: cannot read", errno);
    bytes.resize(had + static_cast<std::size_t>(std::max<::ssize_t>(got, 0)));
    if (got == 0) return bytes;
  }
}

std::vector<std::byte> read_data_file(const std::filesystem::path& path) {
  const File file(path);
  std::vector<std::byte> bytes(static_cast<std::size_t>(file.size()));
  file.read_at(0, bytes);
  return bytes;
}

}  // namespace lockstep
