#pragma once
// A barrier for a team of threads: spins briefly, then sleeps. A thread that waits for a core it does not get (more
// threads than cores, a busy machine) must not burn the core its partner needs.

#include <atomic>
#include <chrono>
#include <cstdint>

namespace lockstep {

/// Thrown out of wait() when another thread of the team has failed: unwinds this one quietly.
struct TeamFailed {};

class Barrier {
 public:
  /// `spin`: how long to look before sleeping; 0 where the team has more threads than cores.
  Barrier(int threads, std::chrono::nanoseconds spin) : threads_(threads), spin_(spin) {}

  /// Returns when all threads have called it; what each wrote before is visible to all after.
  void wait();
  /// Wakes all threads with TeamFailed, now and at every later wait().
  void fail();

 private:
  /// Looks for the end of the round for a while.
  void spin(std::uint32_t round) const;

  static constexpr std::uint32_t kFailed = 1U << 31;

  const int threads_;
  const std::chrono::nanoseconds spin_;
  alignas(64) std::atomic<int> arrived_{0};
  alignas(64) std::atomic<std::uint32_t> round_{0};
};

}  // namespace lockstep
