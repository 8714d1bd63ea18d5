#pragma once
// Other programs that a measurement needs: started with a time limit, their output captured, none left running.

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "cli/process/process_tree.hpp"

namespace lockstep::cli {

using Stopped = std::function<bool()>;  // a request to end: Ctrl-C

struct Captured {
  int code = 0;  // as a shell counts: the exit code, or 128 + the signal
  bool timed_out = false, stopped = false;
  std::string out{}, err{};

  bool ok() const { return code == 0 && !timed_out && !stopped; }
  /// Why it failed, in a line: the last line of stderr, or how it ended.
  std::string reason() const;
};

struct CaptureOptions {
  std::chrono::milliseconds patience = std::chrono::minutes(10);
  Environment environment{};  // added to that of this process
  Stopped stopped{};          // asked while it runs; true: it is ended
};

/// Runs a program to its end in a process group of its own, without input; the whole group is ended when the time is
/// up, when `stopped` returns true, and when the program itself ends. Of each stream the first 64 MiB are kept. A
/// program that cannot be started has code 127.
Captured run_captured(const std::vector<std::string>& words, const CaptureOptions& options = {});

/// For options: a limit in seconds.
std::chrono::milliseconds milliseconds_of(double seconds);

}  // namespace lockstep::cli
