#pragma once
// Parts of the program that are files of their own, and libraries of others: opened only when they are needed.

#include <filesystem>
#include <string>

namespace lockstep {

/// The file of this name beside the program or in ../lib/lockstep; empty where there is none. Where this code is part
/// of a shared object (the module of the Python package), first in the folder bin beside that.
std::filesystem::path find_plugin(const char* file);

/// A shared library that stays open, or why it could not be opened.
struct SharedLibrary {
  void* handle = nullptr;
  std::string error{};  // in the words of the system's loader
  bool absent = false;  // there is no such file; false: loading failed for another reason

  /// " which this machine lacks", or " which does not load: libLLVM-14.so.1: cannot open shared object file".
  std::string why_not() const;
  /// A function of the library; null where it has none of this name.
  void* find(const char* name) const;
};

/// `global`: for libraries that open parts of their own, which look for its symbols.
SharedLibrary open_library(const std::string& file, bool global = false);

}  // namespace lockstep
