#include "lockstep/data/formats/tar.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "lockstep/core/words.hpp"
#include "lockstep/data/bytes.hpp"

namespace lockstep {
namespace {

constexpr std::int64_t kBlockBytes = 512, kMaxLongName = 65536;

/// A field of a header up to its first zero.
std::string_view text_of(std::span<const std::byte> header, std::size_t at, std::size_t length) {
  const auto field = header.subspan(at, length);
  const std::string_view text(reinterpret_cast<const char*>(field.data()), field.size());
  return text.substr(0, text.find('\0'));
}

/// Octal digits, between spaces.
std::optional<std::int64_t> octal_of(std::string_view text) {
  text = trimmed(text);
  if (text.empty() || text.size() > 20) return std::nullopt;
  std::int64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '7') return std::nullopt;
    value = value * 8 + (c - '0');
  }
  return value;
}

/// The sum of the header's bytes, with spaces in place of the sum itself.
std::int64_t checksum_of(std::span<const std::byte> header) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < header.size(); ++i)
    sum += i >= 148 && i < 156 ? ' ' : std::to_integer<std::int64_t>(header[i]);
  return sum;
}

/// "path" of a POSIX extended header: records "<length> key=value\n".
std::optional<std::string> pax_path(std::string_view records) {
  while (!records.empty()) {
    const std::size_t space = records.find(' ');
    if (space == std::string_view::npos) return std::nullopt;
    const auto length = parse_number<std::size_t>(records.substr(0, space));
    if (!length || *length <= space + 1 || *length > records.size()) return std::nullopt;
    std::string_view record = records.substr(space + 1, *length - space - 2);
    if (record.starts_with("path=")) return std::string(record.substr(5));
    records.remove_prefix(*length);
  }
  return std::nullopt;
}

}  // namespace

std::vector<TarEntry> parse_tar(std::span<const std::byte> bytes, std::string_view name) {
  std::vector<TarEntry> entries;
  std::string long_name;
  const auto size = static_cast<std::int64_t>(bytes.size());
  std::int64_t at = 0;
  while (at + kBlockBytes <= size) {
    const auto header = bytes.subspan(static_cast<std::size_t>(at), kBlockBytes);
    if (std::all_of(header.begin(), header.end(), [](std::byte b) { return b == std::byte{0}; })) return entries;
    if (octal_of(text_of(header, 148, 8)) != checksum_of(header))
      fail_data(name, at, entries.empty() ? "not a tar archive" : "the checksum of a header is wrong");
    const auto length = octal_of(text_of(header, 124, 12));
    const std::int64_t start = at + kBlockBytes;
    if (!length || *length > size - start) fail_data(name, at, "the member does not fit the archive");
    const char kind = static_cast<char>(header[156]);
    const std::string_view content(reinterpret_cast<const char*>(bytes.data()) + start,
                                   static_cast<std::size_t>(*length));
    if ((kind == 'L' || kind == 'x') && *length > kMaxLongName) fail_data(name, at, "a name of more than 65536 bytes");
    if (kind == 'L') {
      long_name = content.substr(0, content.find('\0'));
    } else if (kind == 'x') {
      if (auto path = pax_path(content)) long_name = std::move(*path);
    } else {
      const std::string_view prefix = text_of(header, 257, 5) == "ustar" ? text_of(header, 345, 155) : "";
      std::string path = !long_name.empty() ? long_name
                         : prefix.empty()   ? std::string(text_of(header, 0, 100))
                                            : fmt::format("{}/{}", prefix, text_of(header, 0, 100));
      if (kind == '0' || kind == '\0' || kind == '7') entries.push_back({std::move(path), start, *length});
      long_name.clear();
    }
    at = start + (*length + kBlockBytes - 1) / kBlockBytes * kBlockBytes;
  }
  if (entries.empty()) fail_data(name, 0, "not a tar archive, or one without files");
  return entries;
}

}  // namespace lockstep
