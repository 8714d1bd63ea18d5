#pragma once
// How a rank waits for others (ranks.hpp); simulations do it the same way.

#include <chrono>

namespace lockstep {

struct RankWait {
  /// At first it looks again and again: a partner at work on another core is usually faster than this.
  static constexpr std::chrono::microseconds spin{100};
  /// Then the core is given away between two looks: to the partner, where there are more ranks than cores. By sleeping,
  /// not by yielding: who yields to a program that computes waits until its time is up, some milliseconds, and makes
  /// the partner wait; who wakes up goes first. Naps at first, then sleep.
  static constexpr std::chrono::microseconds nap{20}, sleep{200};
  static constexpr std::chrono::milliseconds naps_until{5};
};

}  // namespace lockstep
