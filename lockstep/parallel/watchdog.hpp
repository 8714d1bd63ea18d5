#pragma once
// Ends the process when something that may wait for ever has not returned in time: a call into an MPI library.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <ctime>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace lockstep {

class Watchdog {
 public:
  /// Unless the object is gone within `limit`, or when `hopeless` (if there) says so: writes `line` to stderr (empty:
  /// nothing) and calls `end(exit_code)`, by default _exit. Its thread blocks all signals, and does not count the time
  /// in which the process is stopped.
  Watchdog(std::chrono::nanoseconds limit, std::string line, int exit_code, std::function<void(int)> end = {},
           std::function<bool()> hopeless = {});
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool returned_ = false;
  std::thread thread_;
};

/// A thread that no signal interrupts: signals are for the training. Throws std::system_error where there is none.
std::thread start_quiet_thread(std::function<void()> body);

/// Writes a line to stderr in one call, whatever the other threads are doing; drops it when it is not taken within a
/// second (a full pipe to a launcher that is stopped).
void write_line(const std::string& line);

// Calls into a library that should return at once and might not: the caller registers each call, and another thread
// notices a call that does not come back (heartbeat.hpp).

/// One call at a time.
struct LibraryCalls {
  std::atomic<std::uint64_t> count{0};  // of their beginnings and ends: odd inside a call
  std::atomic<clockid_t> clock{};       // the processor time of the thread inside
};

/// Stands for one call while it lives; null: not watched.
class LibraryCall {
 public:
  explicit LibraryCall(LibraryCalls* calls);
  ~LibraryCall();
  LibraryCall(const LibraryCall&) = delete;
  LibraryCall& operator=(const LibraryCall&) = delete;

 private:
  LibraryCalls* calls_;
};

/// Looks at the calls again and again, from a thread of its own.
class CallWatch {
 public:
  explicit CallWatch(const LibraryCalls* calls) : calls_(calls) {}

  /// How long the present call has neither returned nor used its processor; `elapsed` has gone by since the last look.
  std::chrono::nanoseconds stuck(std::chrono::nanoseconds elapsed);

 private:
  const LibraryCalls* calls_;
  std::uint64_t count_ = 0;
  double seconds_ = 0;
  std::chrono::nanoseconds stuck_{};
};

}  // namespace lockstep
