#pragma once
// The part of ZIP that .npz files use: members stored or deflated, no encryption, no split archives, no ZIP64
// (members beyond 4 GiB). Everything is read from the central directory and checked against the file's length.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

struct ZipEntry {
  std::string name;
  std::int64_t header_offset = 0;  // of the local header
  std::int64_t data_offset = 0;    // of the member's bytes, behind it
  std::int64_t compressed = 0, size = 0;
  std::uint32_t crc = 0;
  bool deflated = false;
};

/// The members in the order of the central directory. `name` is the archive, for messages. Error(data) for two members
/// of one name, and for members that share bytes: all of them together then hold at most 1032 times the archive's size,
/// which is the most that deflate can do.
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

}  // namespace lockstep
