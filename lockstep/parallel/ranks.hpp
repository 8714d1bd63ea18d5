#pragma once
// The ranks of a run as the trainer sees them: small exchanges with a deadline, on top of a transport.

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lockstep/parallel/transport.hpp"

namespace lockstep {

/// How long a rank waits for another one that shows no sign of life. LOCKSTEP_PEER_TIMEOUT, in seconds, overrides it.
std::chrono::nanoseconds peer_timeout();

class Ranks {
 public:
  explicit Ranks(std::unique_ptr<Transport> transport, std::chrono::nanoseconds timeout = peer_timeout());

  int rank() const { return transport_->rank(); }
  int size() const { return transport_->size(); }
  bool leader() const { return rank() == 0; }
  Transport& transport() { return *transport_; }

  /// This rank's share of [0, count): [share(count, rank()), share(count, rank() + 1)).
  std::int64_t share(std::int64_t count, int rank) const { return count * rank / size(); }

  /// Messages of one exchange: begun here, finished together by wait(). Empty ones are not sent.
  void send(int to, std::span<const std::byte> bytes);
  void receive(int from, std::span<std::byte> bytes);
  /// Returns when all of them are finished. Error(peer_lost) names the phase and the first peer that did not answer.
  /// Spins briefly, then gives the core away: with more ranks than cores the partner needs it.
  void wait(std::string_view phase);

  /// Every rank's text, by rank. Sizes may differ.
  std::vector<std::string> all_gather(const std::string& text, std::string_view phase);
  /// Rank 0's text.
  std::string broadcast(const std::string& text, std::string_view phase);
  /// Returns when all ranks have called it.
  void barrier(std::string_view phase) { all_gather("", phase); }

  /// The last step this rank has finished; stands in the message when a peer is lost.
  void note_step(std::int64_t step) { step_ = step; }

 private:
  struct Pending {
    TransportRequest request;
    int peer;
    bool done = false;
  };

  std::unique_ptr<Transport> transport_;
  std::chrono::nanoseconds timeout_;
  std::vector<Pending> pending_;
  std::int64_t step_ = 0;
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
void gather_shares(Ranks& ranks, T* data, std::int64_t count, std::string_view phase) {
  const auto part = [&](int rank) {
    const std::int64_t first = ranks.share(count, rank);
    return writable_bytes_of(data + first, ranks.share(count, rank + 1) - first);
  };
  for (int peer = 0; peer < ranks.size(); ++peer) {
    if (peer == ranks.rank()) continue;
    ranks.send(peer, part(ranks.rank()));
    ranks.receive(peer, part(peer));
  }
  ranks.wait(phase);
}

}  // namespace lockstep
