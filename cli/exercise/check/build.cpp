#include "cli/exercise/check/build.hpp"

#include <cctype>
#include <cstring>
#include <sstream>

#include <fmt/format.h>

#include "cli/process/captured.hpp"
#include "cli/process/tools.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/file.hpp"
#include "lockstep/core/plugin.hpp"
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

/// The library that runs CUDA kernels on the CPU.
std::string find_emulator() {
  constexpr const char* kFile = "libcuda_emulator.so";
  if (const fs::path file = find_plugin(kFile); !file.empty()) return file.string();
  if (const auto file = find_in_tree(fs::path("tests/cuda_emulator") / kFile)) return fs::absolute(*file).string();
  throw Error(ErrorCode::usage, fmt::format("the track cuda needs {}, which lies neither beside this program nor in "
                                            "../lib/lockstep; `make test` builds it",
                                            kFile));
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

std::string rewrite_launches(const std::string& text) {
  std::string result;
  std::size_t done = 0;
  for (std::size_t open; (open = text.find("<<<", done)) != std::string::npos;) {
    const std::size_t close = text.find(">>>", open), call = close == std::string::npos ? close : text.find('(', close);
    if (call == std::string::npos) break;
    std::size_t name = open;
    while (name > done &&
           (std::isalnum(static_cast<unsigned char>(text[name - 1])) || std::strchr("_:<>", text[name - 1])))
      --name;
    const std::string kernel = text.substr(name, open - name), shape = text.substr(open + 3, close - open - 3);
    const std::size_t first = text.find_first_not_of(" \t\n", call + 1);
    result += text.substr(done, name - done);
    result += fmt::format("lockstep_launch(\"{0}\", {0}, {{{1}}}{2}", kernel, shape,
                          first != std::string::npos && text[first] == ')' ? "" : ", ");
    done = call + 1;
  }
  return result + text.substr(done);
}

/// What runner.cc includes for OpenCL: the members of the struct, and the student's text as numbers.
void write_opencl_parts(const Exercise& exercise, const fs::path& folder, const std::string& text) {
  std::string arguments, bytes;
  for (const ArgumentField& field : exercise.fields)
    arguments += fmt::format("{{{}, {}, {}}},\n", field.offset, element_bytes(field.element), field.array() ? 1 : 0);
  // Products and sums are not fused behind the student's back.
  const std::string whole = "#pragma OPENCL FP_CONTRACT OFF\n#define fmaf fma\n#define sqrtf sqrt\n#line 1\n" + text;
  for (const char each : whole) bytes += fmt::format("{}{}", bytes.empty() ? "" : ",", static_cast<int>(each));
  write_file_atomically(folder / "opencl.h", runner_opencl());
  write_file_atomically(folder / "arguments.inc", arguments);
  write_file_atomically(folder / "kernel.inc", bytes);
}

/// Nothing is compiled, but a text that is no Python is found before it runs.
Built build_python(const BuildRequest& request, const fs::path& folder) {
  const auto python = find_python({});
  if (!python) throw Error(ErrorCode::usage, "the track python needs python3 on PATH");
  write_file_atomically(folder / "lockstep_exercise.py", python_header_text(*request.exercise));
  write_file_atomically(folder / "runner.py", runner_python());
  write_file_atomically(folder / request.track->source, read_text(request.source, kMostSource, ErrorCode::usage));
  Built built{.start = {.words = {*python, "-B", (folder / "runner.py").string()}}};
  const Captured said =
      run_captured({*python, "-B", "-c", "import sys; compile(open(sys.argv[1]).read(), 'kernel.py', 'exec')",
                    (folder / request.track->source).string()},
                   {.patience = kCompile});
  if (said.ok()) return built;
  const std::size_t at = said.err.rfind("  File \"kernel.py\"");
  built.error = at == std::string::npos
                    ? last_line(said.err)
                    : fmt::format("kernel.py:{}\n{}", said.err.substr(at + 24, said.err.find('\n', at) - at - 24),
                                  last_line(said.err));
  return built;
}

Built build_kernel(const BuildRequest& request, BuildKind kind) {
  const fs::path folder = request.folder / folder_name(kind);
  fs::create_directories(folder);
  if (request.track->python) return build_python(request, folder);
  // A copy beside our own header: what the student's folder holds besides has no effect.
  write_file_atomically(folder / "lockstep_exercise.h", header_text(*request.exercise));
  write_file_atomically(folder / "protocol.h", runner_protocol());
  write_file_atomically(folder / "runner.cc", runner_source());
  const std::string text = read_text(request.source, kMostSource, ErrorCode::usage);
  write_file_atomically(folder / request.track->source, request.track->cuda ? rewrite_launches(text) : text);
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
  std::string emulator;
  if (request.track->cuda) {
    emulator = find_emulator();
    write_file_atomically(folder / "cuda_runtime.h", runner_cuda_runtime());
    write_file_atomically(folder / "cuda_launch.h", runner_cuda_launch());
    const char* const more_flags[] = {"-DLOCKSTEP_CUDA", "-Wno-unknown-pragmas", "-isystem"};
    flags.insert(flags.end(), std::begin(more_flags), std::end(more_flags));
    flags.push_back(folder.string());
  }
  if (request.track->opencl) {
    write_opencl_parts(*request.exercise, folder, text);
    flags.push_back("-DLOCKSTEP_OPENCL");
  }
  // The thread sanitizer gets an OpenMP runtime that it can see through.
  const bool own_runtime = kind == BuildKind::thread && request.track->threads;
  Captured said = request.track->opencl
                      ? call({(folder / "runner.cc").string(), "-o", program, "-l:libOpenCL.so.1"}, false)
                      : call({"-x", "c++", "-c", (folder / request.track->source).string(), "-o", object}, true);
  if (said.ok() && !request.track->opencl) {
    std::vector<std::string> rest = {(folder / "runner.cc").string(), object, "-o", program};
    if (own_runtime) {
      write_file_atomically(folder / "openmp.cc", runner_openmp());
      rest.push_back((folder / "openmp.cc").string());
    }
    if (!emulator.empty()) {
      rest.push_back(emulator);
      rest.push_back("-Wl,-rpath," + fs::path(emulator).parent_path().string());
    }
    said = call(rest, !own_runtime && !request.track->cuda);
  }
  Built built{.start = {.words = {program}, .environment = runner_environment()}};
  if (request.track->cuda || request.track->opencl)
    built.start.memory_bytes = 0;  // the emulator reserves addresses, not memory
  if (said.ok()) {
    if (kind == BuildKind::plain) built.replaced = replaced_function(program);
    return built;
  }
  std::string words = said.err;
  for (std::size_t at; (at = words.find(folder.string() + "/")) != std::string::npos;)
    words.erase(at, folder.string().size() + 1);
  built.error = said.timed_out ? "the compiler did not end within a minute"
                               : first_error(words, *request.exercise, *request.track);
  return built;
}

}  // namespace lockstep::cli
