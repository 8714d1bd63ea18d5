#pragma once
// status.json in a run directory: the state of a run, or how it ended. A launcher may replace the exit code and drop
// the last line of a run; this file stays.

#include <chrono>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <mutex>
#include <string>
#include <utility>

namespace lockstep {

/// Of one run, for any thread; before begin() nothing is written. A write that fails is ignored: a full disk is
/// reported by the writers of results.
class RunStatus {
 public:
  /// `expected`: the run directory as this rank knows it. A rank that never begins writes there that rank 0 is lost.
  explicit RunStatus(std::filesystem::path expected) : expected_(std::move(expected)) {}

  /// Writes "running" into the directory.
  void begin(const std::filesystem::path& directory, int ranks, std::int64_t epochs);

  /// The present epoch, and the steps since the beginning of training; written every few seconds.
  void note(std::int64_t epoch, std::int64_t step);

  /// How the run ended: an exit code (ErrorCode) and the last line; the first call counts. Waits for nothing: the next
  /// write() writes it.
  void decide(int exit_code, const std::string& message);
  void decide(const std::exception_ptr& failure);
  /// Returns when the status is on the disk.
  void write();

 private:
  std::string text();

  const std::filesystem::path expected_;
  std::mutex mutex_;  // guards the members below; never held during a write
  std::filesystem::path directory_{};
  int ranks_ = 1, exit_code_ = 0;
  std::int64_t epochs_ = 0, epoch_ = 0, step_ = 0;
  std::string began_{}, message_{};
  bool decided_ = false;
  std::chrono::steady_clock::time_point written_{};
  std::mutex file_;
};

/// Changes the state "running" of a run whose rank 0 is dead to "lost"; leaves other states.
void note_lost(const std::filesystem::path& directory, const std::string& message);

}  // namespace lockstep
