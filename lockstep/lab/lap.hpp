#pragma once
// A stopwatch that gives each stretch of time to a phase.

#include <chrono>

namespace lockstep {

class Lap {
 public:
  /// Adds the time since the last call (or since construction), in seconds.
  void operator()(double& phase) {
    const auto now = std::chrono::steady_clock::now();
    phase += std::chrono::duration<double>(now - last_).count();
    last_ = now;
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace lockstep
