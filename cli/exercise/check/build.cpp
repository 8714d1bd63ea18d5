#include "cli/exercise/check/build.hpp"

#include <sstream>

#include <fmt/format.h>

#include "cli/process/captured.hpp"
#include "cli/process/tools.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/file.hpp"
#include "lockstep/core/words.hpp"

namespace lockstep::cli {

namespace fs = std::filesystem;

namespace {

constexpr std::chrono::seconds kCompile{60};

const char* folder_name(BuildKind kind) {
  return kind == BuildKind::plain ? "plain" : kind == BuildKind::address ? "address" : "thread";
}

std::vector<std::string> sanitizer_flags(BuildKind kind) {
  if (kind == BuildKind::address)
    return {"-fsanitize=address,undefined", "-fno-sanitize=alignment", "-fno-sanitize-recover=all",
            "-fno-omit-frame-pointer", "-O1"};
  if (kind == BuildKind::thread) return {"-fsanitize=thread", "-O1"};
  return {};
}

/// Functions of the C library that a kernel has no business to replace: clocks, and how a process reads, writes and
/// ends.
constexpr const char* kReplaced[] = {"clock_gettime", "gettimeofday", "clock",     "time",  "read",   "write",
                                     "exit",          "_exit",        "abort",     "mmap",  "munmap", "prctl",
                                     "unshare",       "sigaction",    "setrlimit", "memcpy"};

/// One of them that the program defines by itself; empty where there is none, or no `nm`.
std::string replaced_function(const std::string& program) {
  const Captured said =
      run_captured({"nm", "--defined-only", "--extern-only", "--format=posix", program}, {.patience = kCompile});
  if (!said.ok()) return {};
  std::istringstream lines(said.out);
  for (std::string line; std::getline(lines, line);)
    for (const char* const name : kReplaced)
      if (line.substr(0, line.find(' ')) == name) return name;
  return {};
}

/// The first error of a compiler and the line of the source it is about.
std::string first_error(const std::string& said, const Exercise& exercise, const Track& track) {
  if (said.find("undefined reference to `" + exercise.function) != std::string::npos)
    return fmt::format(
        "{}: the function {} is missing, or not extern \"C\"\nkeep the last lines of the stub as they were",
        track.source, exercise.function);
  std::size_t at = said.find("error: ");
  if (at == std::string::npos) return last_line(said);
  const std::size_t begin = said.rfind('\n', at) + 1, end = said.find('\n', at);
  std::string text = one_line(said.substr(begin, end - begin));
  if (end == std::string::npos) return text;
  const std::string second = said.substr(end + 1, said.find('\n', end + 1) - end - 1);
  if (second.find('|') != std::string::npos) text += "\n" + one_line(second);
  return text;
}

Environment runner_environment() {
  return {{"ASAN_OPTIONS", "detect_leaks=0:handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_sigill=0"},
          {"UBSAN_OPTIONS", "halt_on_error=1"},
          {"TSAN_OPTIONS", "halt_on_error=1:exitcode=66:handle_segv=0"},
          {"OMP_PROC_BIND", "false"}};
}

}  // namespace

std::string find_compiler(const std::string& wanted) {
  if (!wanted.empty()) {
    if (const auto found = find_program(wanted)) return *found;
    if (fs::exists(wanted)) return wanted;
    throw Error(ErrorCode::usage, fmt::format("--compiler {}: no such program", one_line(wanted)));
  }
  for (const char* const name : {"g++", "clang++"})
    if (const auto found = find_program(name)) return *found;
  throw Error(ErrorCode::usage, "no C++ compiler on PATH to build the kernel with; install g++");
}

Built build_kernel(const BuildRequest& request, BuildKind kind) {
  const fs::path folder = request.folder / folder_name(kind);
  fs::create_directories(folder);
  // A copy beside our own header: what the student's folder holds besides has no effect.
  write_file_atomically(folder / "lockstep_exercise.h", header_text(*request.exercise));
  write_file_atomically(folder / "protocol.h", runner_protocol());
  write_file_atomically(folder / "runner.cc", runner_source());
  write_file_atomically(folder / request.track->source, read_text(request.source, kMostSource, ErrorCode::usage));
  const std::string program = (folder / "runner").string(), object = (folder / "kernel.o").string();
  std::vector<std::string> flags = common_flags();
  const std::vector<std::string> more = sanitizer_flags(kind);
  flags.insert(flags.end(), more.begin(), more.end());
  flags.push_back("-ffile-prefix-map=" + folder.string() + "/=");
  flags.push_back("-DKERNEL=" + request.exercise->function);
  const auto call = [&](const std::vector<std::string>& rest, bool with_track) {
    std::vector<std::string> words = {request.compiler};
    words.insert(words.end(), flags.begin(), flags.end());
    if (with_track) words.insert(words.end(), request.track->flags.begin(), request.track->flags.end());
    words.insert(words.end(), rest.begin(), rest.end());
    return run_captured(words, {.patience = kCompile, .environment = {{"LC_ALL", "C"}}});
  };
  // The thread sanitizer gets an OpenMP runtime that it can see through.
  const bool own_runtime = kind == BuildKind::thread && request.track->threads;
  Captured said = call({"-c", (folder / request.track->source).string(), "-o", object}, true);
  if (said.ok()) {
    std::vector<std::string> rest = {(folder / "runner.cc").string(), object, "-o", program};
    if (own_runtime) {
      write_file_atomically(folder / "openmp.cc", runner_openmp());
      rest.push_back((folder / "openmp.cc").string());
    }
    said = call(rest, !own_runtime);
  }
  Built built{.start = {.words = {program}, .environment = runner_environment()}};
  if (said.ok()) {
    if (kind == BuildKind::plain) built.replaced = replaced_function(program);
    return built;
  }
  std::string text = said.err;
  for (std::size_t at; (at = text.find(folder.string() + "/")) != std::string::npos;)
    text.erase(at, folder.string().size() + 1);
  built.error = said.timed_out ? "the compiler did not end within a minute"
                               : first_error(text, *request.exercise, *request.track);
  return built;
}

}  // namespace lockstep::cli
