#pragma once
// Tape archives (ustar, GNU and POSIX long names): which files there are, and where their bytes stand.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

struct TarEntry {
  std::string name;
  std::int64_t offset = 0, size = 0;  // of the content
};

/// The regular files of the archive, in its order; folders and links are left out. Every header's checksum is verified,
/// every size checked against the bytes there are. Error(data) names the byte.
std::vector<TarEntry> parse_tar(std::span<const std::byte> bytes, std::string_view name);

}  // namespace lockstep
