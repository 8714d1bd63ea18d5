#pragma once
// Notices within seconds that another rank is dead, stopped or cut off, while this one computes or waits, and ends the
// run. Why it is done this way: docs/design/0008-no-hang.md.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "lockstep/parallel/heartbeat_links.hpp"
#include "lockstep/parallel/ranks.hpp"
#include "lockstep/parallel/watchdog.hpp"

namespace lockstep {

struct HeartbeatOptions {
  /// A rank is lost when it has said nothing for this time. A tenth of it lies between two beats.
  std::chrono::nanoseconds silence = peer_timeout();
  /// How long a call into MPI may neither return nor use its processor: none of them should wait for anything.
  std::chrono::nanoseconds stuck_call = std::max<std::chrono::nanoseconds>(std::chrono::seconds(10), peer_timeout());
  /// How long all ranks may do nothing. Longer than the deadline of Ranks::wait, which can say who is waited for: this
  /// one is for ranks whose threads do not come out of a system call.
  std::chrono::nanoseconds idle = wait_timeout() + std::chrono::seconds(10);
  /// The calls into MPI; null: not watched.
  const LibraryCalls* calls = nullptr;
  /// How long the training's thread may take to end the process once the run is over.
  std::chrono::nanoseconds grace = std::chrono::seconds(3);
  /// Whether the launcher, or its agent on this host, is no more.
  std::function<bool()> launcher_gone{};
  /// Says a line on stderr, from the heartbeat's thread.
  std::function<void(const std::string&)> say{};
  /// Called when a rank or the launcher is lost, before anything else: Open MPI may end the process at any time.
  std::function<void()> on_loss{};
  /// Called once, from any thread, with the exit code and the line (empty: another rank says it) when the run is over.
  /// Must not wait for anything.
  std::function<void(int, const std::string&)> on_over{};
  /// Ends the process when `grace` is over; by default _exit.
  std::function<void(int)> end{};
};

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
  using Clock = std::chrono::steady_clock;

  void run();
  void tick(Clock::time_point now);
  void look_for_launcher();
  void look_for_standstill(bool works, bool paused);
  void hear(const BeatPeer& peer);
  void lose(const BeatPeer& peer, const std::string& how);
  bool finish_run(int exit_code, const std::string& line);
  void send_last();
  Beat own_beat() const;

  Ranks& ranks_;
  RankStatus& status_;
  HeartbeatOptions options_;
  BeatLinks links_;
  Clock::duration period_;
  Clock::time_point ticked_{};
  double processor_seconds_ = 0;
  CallWatch calls_;
  Clock::duration idle_{};              // how long no rank has worked
  std::atomic<bool> stopping_ = false;  // the object goes

  /// Why the run is over.
  struct Verdict {
    std::mutex mutex;  // of what follows
    std::condition_variable decided;
    int exit_code = 0;        // 0: the run is not over
    std::string late_line{};  // said when this process still lives at the deadline
    Clock::time_point deadline{};
    bool told = false;  // the others know
  };
  Verdict verdict_;
  std::thread thread_;
};

}  // namespace lockstep
