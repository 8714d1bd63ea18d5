#pragma once
// A whole check: build, cases, explanation, sanitizers, speed.

#include <filesystem>

#include "cli/exercise/check/build.hpp"
#include "cli/exercise/check/verdict.hpp"
#include "cli/output/console.hpp"

namespace lockstep::cli {

struct CheckOptions {
  std::filesystem::path source{};              // the student's file
  std::string compiler{};                      // empty: g++, else clang++
  std::optional<std::uint64_t> secret_seed{};  // nothing: another one in every check
  bool sanitize = true, speed = true;
  double call_seconds = 10;  // a call may take
};

/// Progress goes to the console; the verdict says everything else. Error(usage) for a missing compiler or file.
Verdict check_kernel(const Exercise& exercise, const Track& track, const CheckOptions& options, Console& console);

}  // namespace lockstep::cli
