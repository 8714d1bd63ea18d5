#include "cli/exercise/check/build.hpp"

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
  const std::string program = (folder / "runner").string();
  std::vector<std::string> words = {request.compiler};
  const auto add = [&](const std::vector<std::string>& more) { words.insert(words.end(), more.begin(), more.end()); };
  add(common_flags());
  add(request.track->flags);
  add(sanitizer_flags(kind));
  add({"-ffile-prefix-map=" + folder.string() + "/=", "-DKERNEL=" + request.exercise->function,
       (folder / "runner.cc").string(), (folder / request.track->source).string(), "-o", program});
  const Captured said = run_captured(words, {.patience = kCompile, .environment = {{"LC_ALL", "C"}}});
  Built built{.start = {.words = {program}, .environment = runner_environment()}};
  if (said.ok()) return built;
  std::string text = said.err;
  for (std::size_t at; (at = text.find(folder.string() + "/")) != std::string::npos;)
    text.erase(at, folder.string().size() + 1);
  built.error = said.timed_out ? "the compiler did not end within a minute"
                               : first_error(text, *request.exercise, *request.track);
  return built;
}

}  // namespace lockstep::cli
