#pragma once
// NumPy's .npz: a ZIP archive whose members are .npy files, stored (savez) or deflated (savez_compressed).

#include <cstddef>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lockstep/data/array.hpp"
#include "lockstep/data/formats/zip.hpp"

namespace lockstep {

/// An archive opened in memory: `bytes` must outlive it. Error(data) when two members are one array ("a" and "a.npy").
class NpzReader {
 public:
  NpzReader(std::span<const std::byte> bytes, std::string_view name);
  NpzReader(const NpzReader&) = delete;
  NpzReader& operator=(const NpzReader&) = delete;

  /// The names of the arrays, without ".npy", in the order of the file.
  std::vector<std::string> keys() const;
  bool contains(std::string_view key) const;
  /// Error(data) lists what there is when `key` is not there.
  Array read(std::string_view key) const;

 private:
  std::span<const std::byte> bytes_;
  std::string name_;
  std::vector<ZipEntry> entries_;
  std::map<std::string_view, std::size_t> index_;  // of the entries, by key; the names are those of entries_
};

/// Every array of the file.
std::vector<NamedArray> read_npz(const std::filesystem::path& path);

/// Stored, without time stamps: the same bytes for the same arrays.
std::vector<std::byte> write_npz(std::span<const NamedArray> arrays);

}  // namespace lockstep
