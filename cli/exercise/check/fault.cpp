// How a process with a student's kernel died, in words.

#include <csignal>

#include <fmt/format.h>
#include <sys/syscall.h>

#include "cli/exercise/check/session.hpp"
#include "lockstep/core/words.hpp"

namespace lockstep::cli {

namespace {

std::string in_array(const CallOutcome& outcome, const CaseArguments& arguments) {
  int given = 0;
  for (const auto& array : arguments.arrays()) {
    if (!array.given || given++ != outcome.block.array_hit) continue;
    const std::int64_t size = element_bytes(array.field->element), byte = outcome.block.byte_hit;
    const std::int64_t index = byte >= 0 ? byte / size : -((-byte + size - 1) / size);
    if (index >= 0 && index < array.count())
      return fmt::format("it writes into the input {}, which it may only read", element_name(array, index));
    const std::int64_t away = index < 0 ? -index : index - array.count() + 1;
    return fmt::format("it goes outside of {}: element {} of {}, {} {} the {}", array.field->name, index, array.count(),
                       away, index < 0 ? "before" : "behind", index < 0 ? "first" : "last");
  }
  return "it uses an address that belongs to none of its arrays";
}

const char* signal_words(int number) {
  switch (number) {
    case SIGFPE:
      return "it divides an integer by zero";
    case SIGILL:
      return "it runs an instruction that this processor does not have";
    case SIGABRT:
      return "it called abort, or threw an exception that nothing caught";
    case SIGKILL:
      return "the system ended it; it asked for too much memory";
    default:
      return "it was ended by a signal";
  }
}

std::string call_words(int call) {
  switch (call) {
#if defined(__x86_64__)
    case SYS_fork:
    case SYS_vfork:
#endif
    case SYS_clone:
      return "it starts another process";
    case SYS_execve:
    case SYS_execveat:
      return "it starts another program";
    case SYS_socket:
      return "it opens a network connection";
    case SYS_ptrace:
    case SYS_process_vm_readv:
    case SYS_process_vm_writev:
      return "it reaches for the memory of another process";
    case SYS_kill:
      return "it sends a signal to another process";
    case -1:
      return "it starts a process, opens a connection or a file";
    default:
      return fmt::format("it opens, makes or removes a file (system call {})", call);
  }
}

/// The line of a sanitizer's report that says what it found.
std::string sanitizer_line(const std::string& said) {
  for (const char* const mark : {"python error: ", "OpenCL: ", "cuda emulator: ", "runtime error: ",
                                 "ERROR: AddressSanitizer: ", "WARNING: ThreadSanitizer: "}) {
    const std::size_t at = said.find(mark);
    if (at == std::string::npos) continue;
    const std::size_t begin = at + std::string_view(mark).size();
    std::string line = said.substr(begin, said.find('\n', begin) - begin);
    if (const std::size_t address = line.find(" on address"); address != std::string::npos) line.resize(address);
    if (const std::size_t process = line.find(" (pid="); process != std::string::npos) line.resize(process);
    return line;
  }
  return {};
}

/// "kernel.cpp:12", the first place of the student's file in a report.
std::string place_in_source(const std::string& said) {
  const std::size_t at = said.find("kernel.c");
  if (at == std::string::npos) return {};
  std::size_t end = said.find_first_of(" \n)", at);
  std::string place = said.substr(at, end - at);
  return place;
}

}  // namespace

std::string describe_fault(const CallOutcome& outcome, const CaseArguments& arguments) {
  using End = CallOutcome::End;
  if (outcome.end == End::too_long) return "it did not return in time";
  if (outcome.end == End::forged) return "it answered in the place of the checker's own code";
  if (outcome.end == End::exited)
    return fmt::format("it ended the process (exit code {}) instead of returning", outcome.code);
  if (outcome.end == End::forbidden) return call_words(outcome.block.system_call) + ", which a kernel may not";
  if (const std::string line = sanitizer_line(outcome.said); !line.empty()) {
    const bool placed = line.find(" at kernel.") != std::string::npos;
    const std::string place = placed ? "" : place_in_source(outcome.said);
    return one_line(fmt::format("{}{}", line, place.empty() ? "" : " at " + place));
  }
  const int number = outcome.block.signal != 0 ? outcome.block.signal : outcome.code - 128;
  if (number != SIGSEGV && number != SIGBUS) return signal_words(number);
  if (outcome.block.signal_code == SI_KERNEL)
    return "it loads or stores a vector at an address that is not a multiple of the vector's size; arrays are aligned "
           "to "
           "their elements only";
  return in_array(outcome, arguments);
}

}  // namespace lockstep::cli
