#pragma once
// Notices within seconds that another rank is dead, stopped or cut off, while this one computes or waits, and ends the
// run. Why it is done this way: docs/design/0008-no-hang.md.

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "lockstep/parallel/heartbeat_links.hpp"
#include "lockstep/parallel/library_calls.hpp"
#include "lockstep/parallel/rank_status.hpp"
#include "lockstep/parallel/ranks.hpp"

namespace lockstep {

struct HeartbeatOptions {
  /// A rank that says nothing for so long is lost. A tenth of it lies between two beats.
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
/// of all ranks says `over`, so that their waits end with Error(peer_lost), and who has not ended in time is ended with
/// exit code 7. Ranks that leave in order say so with their last beat.
class Heartbeat {
 public:
  /// Called by all ranks together. `ranks` must outlive it.
  Heartbeat(Ranks& ranks, HeartbeatOptions options);
  ~Heartbeat();
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

  /// How many ranks could not be connected with rank 0: they are lost only by the deadlines of Ranks::wait.
  int unwatched() const;

  /// This rank ends all of them with `exit_code`. False when another reason has been said already; else it says `line`
  /// and the others end in silence.
  bool end_all(int exit_code, const std::string& line);

  /// Waits a moment for the reason why the run is over; the exit code, 0 where there is none. For a failure that may be
  /// the echo of another rank's.
  int verdict(std::chrono::nanoseconds patience);

 private:
  using Clock = std::chrono::steady_clock;

  enum class Kind : std::uint8_t { beat = 1, leaving, over };
  /// What travels. The program is the same on all ranks, and so is the order of its bytes.
  struct Beat {
    Kind kind = Kind::beat;
    bool works = false;  // this rank; from rank 0: any
    std::uint8_t exit_code = 0;
    std::array<char, 13> phase{};
    std::int64_t step = 0;
  };
  static_assert(sizeof(Beat) == 24);

  struct Peer {
    int rank = 0;
    Socket socket;
    Clock::time_point heard{};
    Beat last{};
    std::array<std::byte, sizeof(Beat)> bytes{};
    std::size_t filled = 0;
  };

  void run();
  void tick(Clock::time_point now);
  void look_for_launcher();
  void look_for_standstill(bool works, bool paused);
  void listen(int milliseconds);
  void read(Peer& peer);
  void take(Peer& peer, const Beat& beat);
  void lose(const Peer& peer, const std::string& how);
  bool finish_run(int exit_code, const std::string& line);
  void send(Beat beat);
  void send_last();
  void drain();
  Beat own_beat();

  Ranks& ranks_;
  RankStatus& status_;
  HeartbeatOptions options_;
  std::vector<std::string> hosts_;
  std::vector<Peer> peers_;
  int unwatched_ = 0;
  Clock::duration period_;
  Clock::time_point ticked_{};
  double processor_seconds_ = 0;
  CallWatch calls_;
  Clock::duration idle_{};              // for so long no rank has worked
  int wake_ = -1;                       // an eventfd: something is wanted from the thread
  std::atomic<bool> stopping_ = false;  // the object goes

  std::mutex mutex_;  // of what follows
  std::condition_variable decided_;
  int exit_code_ = 0;        // why the run is over; 0: it is not
  std::string late_line_{};  // said when this process still lives at deadline_
  Clock::time_point deadline_{};
  bool told_ = false;  // the others know
  std::thread thread_;
};

}  // namespace lockstep
