#pragma once
// Compiles a student's kernel with the runner around it, in a temporary folder: no CMake, nothing left behind.

#include <filesystem>
#include <string>

#include "cli/exercise/check/session.hpp"
#include "cli/exercise/track.hpp"

namespace lockstep::cli {

/// Of a student's file, in bytes.
inline constexpr std::int64_t kMostSource = std::int64_t{1} << 20;

/// A build of the same source: plain, or with sanitizers.
enum class BuildKind { plain, address, thread };

struct BuildRequest {
  const Exercise* exercise = nullptr;
  const Track* track = nullptr;
  std::filesystem::path source{};  // the student's file
  std::filesystem::path folder{};  // where to build
  std::string compiler{};          // a path
};

struct Built {
  RunnerStart start{};
  std::string replaced{};  // a function of the C library that the kernel brings a version of its own of
  std::string error{};     // the compiler's first one, in two lines; empty: it was built
};

/// Error(usage) that says what to install, where there is no compiler. `wanted`: a name or path; empty: g++, clang++.
std::string find_compiler(const std::string& wanted);

Built build_kernel(const BuildRequest& request, BuildKind kind);

/// The texts of runner/, which the program carries with it.
const char* runner_source();
const char* runner_protocol();
const char* runner_openmp();
const char* runner_python();
const char* runner_opencl();
const char* runner_cuda_launch();
const char* runner_cuda_runtime();

/// kernel<<<grid, block>>>(x) -> lockstep_launch("kernel", kernel, {grid, block}, x), line by line as before.
std::string rewrite_launches(const std::string& text);

}  // namespace lockstep::cli
