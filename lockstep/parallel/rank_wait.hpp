#pragma once
// How a rank waits for others (ranks.hpp); simulations do it the same way.

#include <chrono>

namespace lockstep {

struct RankWait {
  /// First it polls: a partner at work on another core usually answers sooner than this.
  static constexpr std::chrono::microseconds kSpin{100};
  /// Where ranks share cores it yields between two polls instead, and for longer: most likely it waits for one of the
  /// ranks that need this core.
  static constexpr std::chrono::microseconds kYield{400};
  /// Then it sleeps: naps at first, longer later. A yield to a busy program may last a whole time slice, some
  /// milliseconds, and delay the partner too; a thread that wakes up runs at once.
  static constexpr std::chrono::microseconds kNap{20}, kSleep{200};
  static constexpr std::chrono::milliseconds kNapsUntil{5};
};

}  // namespace lockstep
