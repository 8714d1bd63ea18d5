#pragma once
// What a heartbeat decides: who is lost, who says so, when a rank that does not end is ended. It has no thread, clock
// or connection of its own: those of a run are heartbeat.hpp's, those of tests are simulated.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

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

/// The rank that decides.
struct BeatSelf {
  int rank = 0, size = 1;
  std::string transport{};           // what carries the messages of the ranks
  std::vector<std::string> hosts{};  // by rank
};

/// All but end_all and verdict is called by one thread, with the time of its clock.
class HeartbeatRules {
 public:
  using Clock = std::chrono::steady_clock;

  /// `status` and `wire` must outlive it.
  HeartbeatRules(BeatSelf self, RankStatus& status, BeatWire& wire, HeartbeatOptions options, Clock::time_point now);

  /// At the end of a period: sends a beat, and looks for peers that have sent none. How long until the next one.
  /// `processor_seconds`: used by this process so far.
  Clock::duration beat(Clock::time_point now, double processor_seconds);
  /// A beat has come, or the peer has closed its end.
  void hear(const BeatPeer& peer, Clock::time_point now);
  /// After every wait: looks for the launcher, and does what is due when the run is over. False: the process was ended.
  bool settle(Clock::time_point now);
  /// This rank needs no other any more: they are told, and none is lost from now on.
  void leave();
  void stop() { stopping_ = true; }
  bool stopping() const { return stopping_; }

  /// See Heartbeat; from any thread.
  bool end_all(int exit_code, const std::string& line, Clock::time_point now);
  int verdict(std::chrono::nanoseconds patience);

 private:
  void look_for_launcher(Clock::time_point now);
  void look_for_standstill(bool works, bool paused, Clock::time_point now);
  void lose(const BeatPeer& peer, const std::string& how, Clock::time_point now);
  void send_last();
  Beat own_beat() const;
  bool leader() const { return self_.rank == 0; }
  const std::string& host() const { return self_.hosts[static_cast<std::size_t>(self_.rank)]; }

  const BeatSelf self_;
  RankStatus& status_;
  BeatWire& wire_;
  const HeartbeatOptions options_;
  const Clock::duration period_;
  Clock::time_point ticked_;
  double processor_seconds_ = 0;
  CallWatch calls_;
  Clock::duration idle_{};              // how long no rank has worked
  std::atomic<bool> stopping_ = false;  // this rank needs no other any more

  /// Why the run is over.
  struct Verdict {
    std::mutex mutex{};  // of what follows
    std::condition_variable decided{};
    int exit_code = 0;        // 0: the run is not over
    std::string late_line{};  // said when this process still lives at the deadline
    Clock::time_point deadline{};
    bool told = false;  // the others know
  };
  Verdict verdict_{};
};

}  // namespace lockstep
