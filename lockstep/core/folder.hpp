#pragma once
#include <filesystem>

namespace lockstep {

/// Returns when the entry of `path` in its folder is on the disk: a new file or folder, or a new name, that a power cut
/// must not take. A folder that cannot be read, or a file system that cannot do it, is passed over; Error(resources)
/// when the disk fails.
void sync_entry(const std::filesystem::path& path);

/// The same for a folder that was made with those above it, up to `known`, which was there before.
void sync_made_folders(const std::filesystem::path& folder, const std::filesystem::path& known);

}  // namespace lockstep
