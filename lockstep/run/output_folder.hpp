#pragma once
#include <filesystem>

namespace lockstep {

/// Makes the folder and those above it, and checks that files can be made in it. Error(usage) where the place is wrong
/// (no permission, a file in the way, a read-only disk), Error(resources) where the disk is full.
void make_output_folder(const std::filesystem::path& folder);

/// For a folder that could not be made, with what errno says.
[[noreturn]] void fail_output_folder(const std::filesystem::path& folder, int error_number);

}  // namespace lockstep
