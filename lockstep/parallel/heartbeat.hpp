#pragma once
// Notices within seconds that another rank is dead, stopped or cut off, while this one computes or waits, and ends the
// run. Why it is done this way: docs/design/0008-no-hang.md.

#include <chrono>
#include <string>
#include <thread>

#include "lockstep/parallel/heartbeat_links.hpp"
#include "lockstep/parallel/heartbeat_rules.hpp"
#include "lockstep/parallel/ranks.hpp"

namespace lockstep {

/// Beats from its beginning to its end. When a rank, or the launcher, is lost: one rank says so in one line, the status
/// of all ranks says `over`, so that their waits end with Error(peer_lost), and a rank that has not ended in time is
/// ended with exit code 7. Ranks that leave in order say so with their last beat.
class Heartbeat {
 public:
  /// Called by all ranks together. `ranks` must outlive it.
  Heartbeat(Ranks& ranks, HeartbeatOptions options);
  ~Heartbeat();
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

  /// How many ranks could not be connected with rank 0: they are lost only by the deadlines of Ranks::wait.
  int unwatched() const { return links_.unwatched(); }

  /// This rank ends all of them with `exit_code`. False when another reason has been said already; else it says `line`
  /// and the others end in silence.
  bool end_all(int exit_code, const std::string& line);

  /// Waits a moment for the reason why the run is over; the exit code, 0 where there is none. For a failure that may be
  /// the echo of another rank's.
  int verdict(std::chrono::nanoseconds patience);

 private:
  void run();

  BeatLinks links_;
  HeartbeatRules rules_;
  std::thread thread_;
};

}  // namespace lockstep
