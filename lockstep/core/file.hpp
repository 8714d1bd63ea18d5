#pragma once
// Whole files in and out. Readers of data files have their own way in (data/file.hpp: slices); this pair serves what
// is small enough for memory and must never be seen half-written: models, configurations, metrics, exports.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lockstep/core/error.hpp"

namespace lockstep {

/// The whole file. Error(code) when it is missing, unreadable, not a regular file or larger than max_bytes.
std::vector<std::byte> read_file(const std::filesystem::path& path, std::int64_t max_bytes,
                                 ErrorCode code = ErrorCode::data);
/// The same as text.
std::string read_text(const std::filesystem::path& path, std::int64_t max_bytes, ErrorCode code = ErrorCode::data);

/// Writes the file so that a reader sees the old content or the new one, also after a crash or a power cut: a temporary
/// file beside it, fsync, rename, fsync of the folder. A symbolic link is followed, an existing file keeps its
/// permissions. On failure the old file stays, no temporary file is left, and Error(resources) says what went wrong:
/// no space, no permission, no such folder, or a path that is not a regular file.
void write_file_atomically(const std::filesystem::path& path, std::span<const std::byte> bytes);
void write_file_atomically(const std::filesystem::path& path, std::string_view text);

/// The file that write_file_atomically was writing when its process was killed, from the name of the temporary file it
/// left behind: "a.txt" for ".a.txt.123.0.tmp". Nothing for any other name.
std::optional<std::string> temporary_target(std::string_view name);

}  // namespace lockstep
