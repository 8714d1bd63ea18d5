#pragma once
// Every failure a user can meet is an Error: one line that says what, where and what to do, and the
// kind of failure, whose number is the exit code of a program. The message carries no trailing newline and no stack
// trace.

#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

namespace lockstep {

/// What kind of failure; a program exits with its number.
enum class ErrorCode : int {
  done = 0,
  bug = 1,         // a fault of ours
  usage = 2,       // command line or configuration
  data = 3,        // input data
  checkpoint = 4,  // checkpoint or model file unusable
  resources = 5,   // out of disk, memory or a limit
  in_use = 6,      // run directory in use
  peer_lost = 7,   // a rank is dead or hung
  diverged = 8,    // NaN or Inf
  integrity = 9,   // ranks disagree, or a run is not what it claims
  preempted = 10,  // stopped by a signal, saved
};

class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ErrorCode code() const { return code_; }

 private:
  ErrorCode code_;
};

/// Throws an Error that names `what` and the reason errno gives, in words ("No space left on device").
[[noreturn]] inline void fail_system(ErrorCode code, std::string_view what, int error_number) {
  throw Error(code, std::string(what) + ": " + std::generic_category().message(error_number));
}

}  // namespace lockstep
