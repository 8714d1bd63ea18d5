#pragma once
// The ranks of a run as the trainer sees them: small exchanges with a deadline, on top of a transport.

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lockstep/parallel/transport.hpp"

namespace lockstep {

/// The time without a sign of life after which a rank is lost: LOCKSTEP_PEER_TIMEOUT, in seconds, by default 8.
std::chrono::nanoseconds peer_timeout();

/// How long a rank waits for an answer while no rank works: 300 s, or peer_timeout() where that is longer.
std::chrono::nanoseconds wait_timeout();

/// Up to this number, every rank sends its message to every other one: one latency. More ranks relay what they have,
/// doubling it each time: log2(ranks) latencies, but not thousands of messages per rank.
inline constexpr int kMostDirect = 16;

/// State shared by the thread that trains and the heartbeat's thread (heartbeat.hpp).
struct RankStatus {
  /// What this rank is doing; a string literal. It stands in the line that the others say when it is lost.
  std::atomic<const char*> phase{"start"};
  /// The last step it has finished.
  std::atomic<std::int64_t> step{0};
  /// It waits for other ranks.
  std::atomic<bool> waiting{false};

  /// Some rank works, as far as rank 0 knows: waits are patient meanwhile.
  std::atomic<bool> somebody_works{false};
  /// The run is over and the reason has been said: waits end at once.
  std::atomic<bool> over{false};
};

class Ranks {
 public:
  explicit Ranks(std::unique_ptr<Transport> transport, std::chrono::nanoseconds timeout = wait_timeout());

  /// Some of the ranks, this one among them, as the ranks 0, 1, ... of a group: its messages travel on that channel of
  /// the transport, so several groups, and several threads with a group each, do not disturb each other. `all` must
  /// outlive it.
  Ranks(Ranks& all, std::vector<int> ranks, int channel);

  int rank() const { return transport_->rank(); }
  int size() const { return transport_->size(); }
  bool leader() const { return rank() == 0; }
  Transport& transport() { return *transport_; }

  /// This rank's share of [0, count): [share(count, rank()), share(count, rank() + 1)).
  std::int64_t share(std::int64_t count, int rank) const { return count * std::min(rank, sharers_) / sharers_; }
  /// From now on the first 2^k ranks alone have shares, as many as there are: a share of 2^j things is an aligned power
  /// of two of them, or nothing.
  void share_in_halves() { sharers_ = static_cast<int>(std::bit_floor(static_cast<unsigned>(size()))); }

  /// Messages of one exchange: started here, finished together by wait(). Empty ones are not sent.
  void send(int to, std::span<const std::byte> bytes);
  void receive(int from, std::span<std::byte> bytes);
  /// The same for a sum over all ranks that the transport's library takes, in an order of its own.
  template <class T>
  void start_library_sum(std::span<T> values);
  /// Returns when all of them are finished. Error(peer_lost) names the phase and the first peer that did not answer; or
  /// it says that the run is over, where the heartbeat has given the reason. `phase` is a literal, here and below.
  /// Spins briefly, then yields the core; at once where ranks share cores (rank_wait.hpp).
  void wait(const char* phase);

  /// Messages of one exchange: `own` to every other rank, and theirs(peer) from it.
  template <class Theirs>
  void exchange(std::span<const std::byte> own, const Theirs& theirs) {
    for (int peer = 0; peer < size(); ++peer) {
      if (peer == rank()) continue;
      send(peer, own);
      receive(peer, theirs(peer));
    }
  }

  /// Every rank's text, by rank. Sizes may differ.
  std::vector<std::string> all_gather(const std::string& text, const char* phase);
  /// Rank 0's text.
  std::string broadcast(const std::string& text, const char* phase);
  /// Returns when all ranks have called it.
  void barrier(const char* phase) { all_gather("", phase); }

  /// What this rank does from now on (a literal), and the last step it has finished, which means that it trains: they
  /// stand in the line that the others say when it is lost.
  void note_phase(const char* phase) { status_->phase = phase; }
  void note_step(std::int64_t step) {
    status_->step = step;
    status_->phase = "training";
  }
  RankStatus& status() { return *status_; }

 private:
  static constexpr int kAll = -1;
  struct Pending {
    TransportRequest request;
    int peer;  // kAll: every one
    bool done = false;
  };

  [[noreturn]] void fail_silent(const char* phase, std::chrono::nanoseconds waited) const;

  std::unique_ptr<Transport> transport_;
  std::chrono::nanoseconds timeout_;
  int sharers_;  // ranks that have shares
  bool shares_cores_;
  std::vector<Pending> pending_;
  std::shared_ptr<RankStatus> status_;  // one for all groups of this rank
};

template <class T>
std::span<const std::byte> bytes_of(const T* data, std::int64_t count) {
  return std::as_bytes(std::span(data, static_cast<std::size_t>(count)));
}
template <class T>
std::span<std::byte> writable_bytes_of(T* data, std::int64_t count) {
  return std::as_writable_bytes(std::span(data, static_cast<std::size_t>(count)));
}

/// `data` has `count` entries, and each rank has filled in its share of them: all shares to every rank.
template <class T>
void gather_shares(Ranks& ranks, T* data, std::int64_t count, const char* phase) {
  const auto part = [&](int rank) {
    const std::int64_t first = ranks.share(count, rank);
    return writable_bytes_of(data + first, ranks.share(count, rank + 1) - first);
  };
  ranks.exchange(part(ranks.rank()), part);
  ranks.wait(phase);
}

}  // namespace lockstep
