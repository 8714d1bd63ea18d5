#pragma once
// A file opened for reading. Slices are read with pread, never mapped: a file that another program truncates
// gives an error, not a signal.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace lockstep {

class File {
 public:
  /// Error(data) when the path is missing, unreadable or not a regular file.
  explicit File(const std::filesystem::path& path);
  ~File();
  File(File&& other) noexcept;
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  /// Bytes in the file when it was opened.
  std::int64_t size() const { return size_; }
  const std::string& name() const { return name_; }

  /// Fills `out` from `offset`; may be called from several threads. Error(data) when the file ends before.
  void read_at(std::int64_t offset, std::span<std::byte> out) const;

 private:
  std::string name_;
  int descriptor_ = -1;
  std::int64_t size_ = 0;
};

/// All of standard input, up to 16 GiB.
std::vector<std::byte> read_standard_input();

/// The whole file, of any size that fits memory.
std::vector<std::byte> read_data_file(const std::filesystem::path& path);

}  // namespace lockstep
