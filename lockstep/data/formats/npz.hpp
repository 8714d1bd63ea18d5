#pragma once
// NumPy's .npz: a ZIP archive whose members are .npy files, stored (savez) or deflated (savez_compressed).

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lockstep/data/array.hpp"
#include "lockstep/data/formats/npy.hpp"

namespace lockstep {

/// A member of the archive. Of ZIP as much as .npz files use: members stored or deflated, no encryption, no split
/// archives; ZIP64 (members beyond 4 GiB) is read, not written. Everything is read from the central directory and
/// checked against the file's length.
struct ZipEntry {
  std::string name;
  std::int64_t header_offset = 0;  // of the local header
  std::int64_t data_offset = 0;    // of the member's bytes, behind it
  std::int64_t compressed = 0, size = 0;
  std::uint32_t crc = 0;
  bool deflated = false;
};

/// Where the bytes of an archive come from: memory, or a file that is larger than memory.
struct ByteSource {
  std::int64_t size = 0;
  /// The bytes [offset, offset + count), which are there.
  std::function<std::vector<std::byte>(std::int64_t offset, std::int64_t count)> read;
};
/// `bytes` must outlive it.
ByteSource source_of(std::span<const std::byte> bytes);

/// The members in the order of the central directory. `name` is the archive, for messages. Error(data) for two members
/// of one name, and for members that share bytes: all of them together then hold at most 1032 times the archive's size,
/// which is the most that deflate can do.
std::vector<ZipEntry> parse_zip(const ByteSource& source, std::string_view name);
std::vector<ZipEntry> parse_zip(std::span<const std::byte> bytes, std::string_view name);

/// The content of a member: size and CRC-32 checked.
std::vector<std::byte> extract_zip(std::span<const std::byte> bytes, const ZipEntry& entry, std::string_view name);

struct ZipMember {
  std::string name;
  std::vector<std::byte> content;
};
/// An archive of stored members without time stamps: the same bytes for the same content. Error(resources) beyond
/// 4 GiB or 65535 members.
std::vector<std::byte> write_zip(std::span<const ZipMember> members);

/// An archive opened in memory, whose `bytes` must outlive it, or in a file, of which only what is asked for is read.
/// Error(data) when two members are one array ("a" and "a.npy").
class NpzReader {
 public:
  NpzReader(std::span<const std::byte> bytes, std::string_view name) : NpzReader(source_of(bytes), name) {}
  explicit NpzReader(const std::filesystem::path& path);
  NpzReader(const NpzReader&) = delete;
  NpzReader& operator=(const NpzReader&) = delete;

  /// The names of the arrays, without ".npy", in the order of the file.
  std::vector<std::string> keys() const;
  bool contains(std::string_view key) const;
  /// Error(data) lists what there is when `key` is not there.
  Array read(std::string_view key) const;
  /// The words of an array of words; nothing when it holds numbers.
  std::optional<NpyText> read_text(std::string_view key) const;
  /// Where the .npy file of this key stands, unread. Error(data) where it is compressed.
  const ZipEntry& find_stored(std::string_view key) const;

 private:
  NpzReader(ByteSource source, std::string_view name);
  const ZipEntry& find(std::string_view key) const;
  std::vector<std::byte> extract(std::string_view key) const;
  std::string name_of(std::string_view key) const;

  ByteSource source_;
  std::string name_;
  std::vector<ZipEntry> entries_;
  std::map<std::string_view, std::size_t> index_;  // of the entries, by key; the names are those of entries_
};

/// Every array of the file.
std::vector<NamedArray> read_npz(const std::filesystem::path& path);

/// Stored, without time stamps: the same bytes for the same arrays.
std::vector<std::byte> write_npz(std::span<const NamedArray> arrays);

}  // namespace lockstep
