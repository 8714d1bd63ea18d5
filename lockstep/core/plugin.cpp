#include "lockstep/core/plugin.hpp"

#include <dlfcn.h>

#include <span>

#include <fmt/format.h>

namespace lockstep {

namespace fs = std::filesystem;

namespace {

/// The folder of the shared object that this code is part of; empty where it is part of a program.
fs::path own_folder(const fs::path& program) {
  ::Dl_info info{};
  std::error_code error;
  if (::dladdr(reinterpret_cast<void*>(&find_plugin), &info) == 0) return {};
  const fs::path file = fs::canonical(info.dli_fname, error);
  return error || file == program || !file.filename().string().ends_with(".so") ? fs::path{} : file.parent_path();
}

}  // namespace

fs::path find_plugin(const char* file) {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  const fs::path own = own_folder(program);
  const fs::path folders[] = {own, own / "bin", program.parent_path(), program.parent_path() / "../lib/lockstep"};
  for (const fs::path& folder : std::span(folders).subspan(own.empty() ? 2 : 0))
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
