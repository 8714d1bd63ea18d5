#pragma once
// MATLAB level 5 .mat files (versions 5 to 7): real numeric arrays, plain or compressed, of either byte order.
// Version 7.3 files are HDF5 and are refused by name.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lockstep/data/array.hpp"

namespace lockstep {

/// One variable of the file, as its header describes it.
struct Mat5Entry {
  std::string name;
  std::string kind;       // "double", "uint8", ..., or "cell", "struct", "char", "sparse", "complex double", ...
  bool readable = false;  // a real numeric array
  std::vector<std::int64_t> dims;  // as MATLAB writes them: at least two
  std::int64_t offset = 0;         // of the element's tag in the file
};

/// A file opened in memory: `bytes` must outlive it. Opening reads the header of every variable and no data.
class Mat5Reader {
 public:
  Mat5Reader(std::span<const std::byte> bytes, std::string_view name);

  const std::vector<Mat5Entry>& entries() const { return entries_; }
  bool contains(std::string_view key) const;
  /// The array in the type of its MATLAB class, column-major turned row-major. Error(data) when there is no such
  /// variable (the message lists what there is) or it is not a real numeric array.
  Array read(std::string_view key) const;
  /// One of entries().
  Array read(const Mat5Entry& entry) const;

 private:
  std::span<const std::byte> bytes_;
  std::string name_;
  std::endian order_ = std::endian::little;
  std::vector<Mat5Entry> entries_;
  std::map<std::string, std::size_t, std::less<>> index_;  // of the entries that have a name
};

/// Every real numeric array of the file; other variables are left out.
std::vector<NamedArray> read_mat5(const std::filesystem::path& path);

/// Uncompressed, little-endian, class double whatever the element type. Rank 1 becomes a column [n,1].
/// Names must be MATLAB names (a letter, then letters, digits, underscores; at most 63): Error(usage).
std::vector<std::byte> write_mat5(std::span<const NamedArray> arrays);

}  // namespace lockstep
