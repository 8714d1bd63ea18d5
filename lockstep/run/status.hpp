#pragma once
// status.json in a run directory: what a run does, or how it ended. It is there whatever became of the exit code and
// the last line on their way through a launcher, which may replace the one and drop the other.

#include <chrono>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <mutex>
#include <string>
#include <utility>

namespace lockstep {

/// Of one run, for any thread; before begin() nothing is written. What cannot be written is left out: whoever writes
/// the results says that a disk is full.
class RunStatus {
 public:
  /// `expected` is where rank 0 has the run, as far as this rank knows: a rank that never begins writes there that rank
  /// 0 is lost.
  explicit RunStatus(std::filesystem::path expected) : expected_(std::move(expected)) {}

  /// Writes "running" into the directory.
  void begin(const std::filesystem::path& directory, int ranks, std::int64_t epochs);

  /// Where the run is, in steps since the beginning of training; written now and then.
  void note(std::int64_t epoch, std::int64_t step);

  /// How the run ended, in the words of the last line; the first call counts. 0 is "finished", other exit codes are
  /// those of lockstep/core/error.hpp. Waits for nothing: it is written by the next write().
  void decide(int exit_code, const std::string& message);
  void decide(const std::exception_ptr& failure);
  /// Returns when the status is on the disk.
  void write();

 private:
  std::string text();

  const std::filesystem::path expected_;
  std::mutex mutex_;  // of what follows; never held while something is written
  std::filesystem::path directory_{};
  int ranks_ = 1, exit_code_ = 0;
  std::int64_t epochs_ = 0, epoch_ = 0, step_ = 0;
  std::string began_{}, message_{};
  bool decided_ = false;
  std::chrono::steady_clock::time_point written_{};
  std::mutex file_;
};

/// Turns "running" in a run directory into "lost", for a run whose rank 0 is dead; anything else stays as it is.
void note_lost(const std::filesystem::path& directory, const std::string& message);

}  // namespace lockstep
