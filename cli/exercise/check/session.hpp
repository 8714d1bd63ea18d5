#pragma once
// A process with the student's code, from the checker's side. It is stopped (SIGSTOP) whenever it is not asked for
// something: no thread of it can look at inputs before the clock runs, or go on working after its answer.

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "cli/exercise/arguments.hpp"
#include "cli/exercise/runner/protocol.h"
#include "cli/process/process_tree.hpp"

namespace lockstep::cli {

/// How to start it, and what it may use.
struct RunnerStart {
  std::vector<std::string> words{};  // the program; the session adds the numbers of its descriptors
  Environment environment{};
  std::int64_t memory_bytes = std::int64_t{4} << 30;  // of its address space; 0: no limit
  double call_seconds = 10;                           // that a call may take
};

/// How a call ended.
struct CallOutcome {
  enum class End {
    returned,
    crashed,    // by a signal, or a sanitizer
    exited,     // the function ended the process
    forbidden,  // by a call of the system that is not allowed
    too_long,
    forged  // the process answered without being asked
  };
  End end = End::returned;
  double seconds = 0;     // by the checker's clock, from the request to the answer
  int code = 0;           // as a shell counts
  SharedBlock block{};    // what the process said about a fault
  std::string said{};     // on standard error
  std::string changed{};  // an input that was changed: "x[3]"
  bool ok() const { return end == End::returned; }
};

class RunnerSession {
 public:
  explicit RunnerSession(RunnerStart start);
  ~RunnerSession();
  RunnerSession(const RunnerSession&) = delete;
  RunnerSession& operator=(const RunnerSession&) = delete;

  /// Maps the arrays of a case in the process. `at_end`: each ends at a guard page; otherwise each begins at one.
  CallOutcome place(const CaseArguments& arguments, bool at_end);
  /// One call with the arguments that were placed, or others of the same shape: copies the arrays, lets the process
  /// call the kernel, copies what it wrote into `arguments`.
  CallOutcome call(CaseArguments& arguments);
  /// After a call: lets the process run on for a moment and copies the outputs again.
  void wait_and_copy(CaseArguments& arguments, double seconds);

  bool alive() const { return child_ > 0; }
  /// Threads of the process now.
  int threads() const;
  /// What the student's code printed.
  const std::string& printed() const { return printed_; }

 private:
  CallOutcome ask(RunnerOp op);
  CallOutcome wait_for_answer(std::uint32_t number, Clock::time_point from);
  void ended_by(int status, CallOutcome& outcome);
  void stop();
  void resume();
  void end();
  void make_room(std::size_t bytes);
  std::byte* array_memory(std::size_t which);
  void copy_out(CaseArguments& arguments, CallOutcome& outcome);

  RunnerStart start_;
  Pipe commands_, answers_, out_, err_;
  int file_ = -1;
  std::byte* memory_ = nullptr;
  std::size_t memory_bytes_ = 0;
  std::vector<SharedArray> placed_{};
  pid_t child_ = -1;
  bool stopped_ = false;
  std::uint32_t number_ = 0;
  std::string printed_{}, said_{};
};

/// A fault in words: which array, which element, read or written, before or behind.
std::string describe_fault(const CallOutcome& outcome, const CaseArguments& arguments);

}  // namespace lockstep::cli
