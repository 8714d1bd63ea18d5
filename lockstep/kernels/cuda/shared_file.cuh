#pragma once
// Libraries that the plugin looks for at run time: it starts without them, and only the backend cuda-library needs
// them.

#include <dlfcn.h>

#include <cstdlib>
#include <initializer_list>
#include <string>

namespace lockstep::cuda {

/// The file that the environment variable names, or the first of `names` that there is; null where there is none, and
/// `why` says so.
inline void* open_shared_file(const char* variable, std::initializer_list<const char*> names, std::string& why) {
  why.clear();
  const auto open = [&](const char* name) {
    void* const file = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (file == nullptr && why.empty()) why = ::dlerror();
    return file;
  };
  if (const char* const chosen = std::getenv(variable); chosen != nullptr && *chosen != '\0') return open(chosen);
  for (const char* name : names)
    if (void* const file = open(name); file != nullptr) return file;
  return nullptr;
}

/// Finds a function of the file; false, with its name in `missing`, where there is none.
template <class Function>
bool find_function(void* file, Function& function, const char* name, std::string& missing) {
  function = reinterpret_cast<Function>(::dlsym(file, name));
  if (function == nullptr && missing.empty()) missing = name;
  return function != nullptr;
}

}  // namespace lockstep::cuda
