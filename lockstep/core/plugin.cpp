#include "lockstep/core/plugin.hpp"

namespace lockstep {

std::filesystem::path find_plugin(const char* file) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const fs::path& folder : {program, program / "../lib/lockstep"})
    if (fs::exists(folder / file, error)) return folder / file;
  return {};
}

}  // namespace lockstep
