#include "lockstep/core/plugin.hpp"

#include <dlfcn.h>

#include <fmt/format.h>

namespace lockstep {

std::filesystem::path find_plugin(const char* file) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const fs::path& folder : {program, program / "../lib/lockstep"})
    if (fs::exists(folder / file, error)) return folder / file;
  return {};
}

std::string SharedLibrary::why_not() const {
  return absent ? "which this machine lacks" : fmt::format("which does not load: {}", error);
}

void* SharedLibrary::find(const char* name) const { return ::dlsym(handle, name); }

SharedLibrary open_library(const std::string& file, bool global) {
  SharedLibrary library{::dlopen(file.c_str(), RTLD_NOW | (global ? RTLD_GLOBAL : RTLD_LOCAL))};
  if (library.handle != nullptr) return library;
  const char* const error = ::dlerror();
  library.error = error == nullptr ? "no reason given" : error;
  // The loader names the file that it did not find: this one, or one that this one needs.
  library.absent = library.error.starts_with(file + ": cannot open shared object file: No such file");
  return library;
}

}  // namespace lockstep
