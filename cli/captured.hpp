#pragma once
// Other programs that a measurement needs: started with a time limit, their words caught, never left behind.

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace lockstep::cli {

struct Captured {
  int code = 0;  // as a shell counts: the exit code, or 128 + the signal
  bool timed_out = false;
  std::string out{}, err{};

  bool ok() const { return code == 0 && !timed_out; }
  /// Why it failed, in a line: the last line of stderr, or how it ended.
  std::string reason() const;
};

struct CaptureOptions {
  std::chrono::milliseconds patience = std::chrono::minutes(10);
  std::vector<std::pair<std::string, std::string>> environment{};  // besides the present one
};

/// Runs a program to its end in a process group of its own, without input; the whole group is killed when the time is
/// up. Of each stream the first 64 MiB are kept. A program that cannot be started has code 127.
Captured run_captured(const std::vector<std::string>& words, const CaptureOptions& options = {});

}  // namespace lockstep::cli
