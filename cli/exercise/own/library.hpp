#pragma once
// The oracle, the fast kernel and the wrong variants of an own exercise: C++ files of the teacher, each with the
// function that students write. They are compiled when the first of them is called, and run in this process: a teacher
// trusts them.

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/exercise/exercise.hpp"

namespace lockstep::cli {

class OwnLibrary {
 public:
  struct Source {
    std::filesystem::path file{};
    bool optimised = false;  // -O3 and OpenMP; otherwise -O2
  };

  /// `header`: the text of lockstep_exercise.h. Nothing is compiled yet.
  OwnLibrary(std::string function, std::string header, std::vector<Source> sources);
  ~OwnLibrary();
  OwnLibrary(const OwnLibrary&) = delete;
  OwnLibrary& operator=(const OwnLibrary&) = delete;

  /// Calls the function of that source. Error(usage) with the compiler's first error where it cannot be built.
  void call(std::size_t source, const void* arguments, int threads = 1);

 private:
  struct Built;
  void build();

  std::string function_, header_;
  std::vector<Source> sources_;
  std::unique_ptr<Built> built_;
};

}  // namespace lockstep::cli
