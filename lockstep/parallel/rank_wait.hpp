#pragma once
// How a rank waits for others (ranks.hpp); simulations do it the same way.

#include <chrono>

namespace lockstep {

struct RankWait {
  /// At first it looks again and again: a partner at work on another core is usually faster than this.
  static constexpr std::chrono::microseconds spin{100};
  /// Where ranks share cores, it lets the others go first between two looks instead, and for longer: most likely it
  /// waits for one of them, and whoever looks takes time from it.
  static constexpr std::chrono::microseconds yield{400};
  /// Then the core is given away by sleeping: who yields to a program that computes may wait until its time is up, some
  /// milliseconds, and make the partner wait; who wakes up goes first. Naps at first, then sleep.
  static constexpr std::chrono::microseconds nap{20}, sleep{200};
  static constexpr std::chrono::milliseconds naps_until{5};
};

}  // namespace lockstep
