#pragma once
// Parts of the program that are files of their own, opened only when they are needed.

#include <filesystem>

namespace lockstep {

/// The file of this name beside the program or in ../lib/lockstep; empty where there is none.
std::filesystem::path find_plugin(const char* file);

}  // namespace lockstep
