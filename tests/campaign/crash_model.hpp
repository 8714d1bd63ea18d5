#pragma once
// What may be on a disk after a power cut, given the file operations of a program up to then (recorder.hpp). The model
// is as hostile as POSIX allows:
//   - what was written since the last fsync of a file may be there or not, page by page in any order, and a page may be
//     torn at a sector;
//   - its size may have grown without its bytes, which are then 0;
//   - an entry of a folder (a new file, a new name, a removal, a new folder) is certain only after an fsync of that
//     folder; before that any of them may be there without the others. Each by itself is there or not: rename is
//     atomic.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace campaign {

/// One entry of a record, see recorder.hpp.
struct Operation {
  char kind = 0;
  std::int64_t number = 0;
  std::string first{}, second{};
};

/// Error: std::runtime_error where the file is no record.
std::vector<Operation> read_record(const std::filesystem::path& file);

/// Path -> contents; a folder is a path that ends in '/'.
using DiskState = std::map<std::string, std::string>;

class CrashDisk {
 public:
  /// `initial` is on the disk for certain.
  explicit CrashDisk(const DiskState& initial);

  /// Does the next operation.
  void apply(const Operation& operation);

  /// One of the states that a power cut now may leave.
  DiskState draw(std::mt19937_64& random) const;
  /// What the program sees.
  DiskState live() const;

 private:
  struct Write {
    std::int64_t offset;
    std::string bytes;
    bool cut;  // not bytes: the size becomes `offset`
  };
  struct File {
    std::string certain{};         // what is on the disk
    std::vector<Write> pending{};  // since the last fsync, in their order
  };
  /// A change of a folder's entries.
  struct Change {
    std::string folder;
    std::string removed{};  // a path, or empty
    std::string added{};    // a path, or empty
    std::size_t file = 0;
  };
  using Entries = std::map<std::string, std::size_t>;

  static void change(Entries& entries, const Change& what);
  void change_later(Change what);
  std::string draw_contents(const File& file, std::mt19937_64& random, double survives) const;

  std::vector<File> files_;
  Entries live_, certain_;  // folders too, whose file is empty
  std::vector<Change> pending_;
};

}  // namespace campaign
