#pragma once
// Ends the process when something that may wait for ever has not returned in time: a call into an MPI library.

#include <chrono>
#include <condition_variable>
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

/// A thread that no signal interrupts: signals are for the training.
std::thread start_quiet_thread(std::function<void()> body);

/// Writes a line to stderr in one call, whatever the other threads are doing; drops it when nobody takes it within a
/// second (a full pipe to a launcher that is stopped).
void write_line(const std::string& line);

}  // namespace lockstep
