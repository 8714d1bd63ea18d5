#pragma once
// The connections that beats travel on: from every rank to rank 0, over TCP (IPv4), beside the transport.

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "lockstep/parallel/ranks.hpp"

namespace lockstep {

/// An open socket.
class Socket {
 public:
  explicit Socket(int descriptor = -1) : descriptor_(descriptor) {}
  Socket(Socket&& other) noexcept : descriptor_(other.release()) {}
  Socket& operator=(Socket&& other) noexcept;
  ~Socket();

  int get() const { return descriptor_; }
  bool open() const { return descriptor_ >= 0; }
  int release();

 private:
  int descriptor_;
};

/// What travels. The program is the same on all ranks, and so is the order of its bytes.
struct Beat {
  enum class Kind : std::uint8_t { beat = 1, leaving, over };

  Kind kind = Kind::beat;
  bool works = false;  // this rank; from rank 0: any
  std::uint8_t exit_code = 0;
  std::array<char, 13> phase{};
  std::int64_t step = 0;
};
static_assert(sizeof(Beat) == 24);

/// The other end of a connection.
struct BeatPeer {
  int rank = 0;
  bool open = true;
  std::chrono::steady_clock::time_point heard{};
  Beat last{};
};

/// This rank's connections: rank 0 has one to every other rank, the others have one to rank 0. Tests simulate them.
class BeatWire {
 public:
  BeatWire() = default;
  BeatWire(const BeatWire&) = delete;
  BeatWire& operator=(const BeatWire&) = delete;
  virtual ~BeatWire() = default;

  std::vector<BeatPeer>& peers() { return peers_; }
  virtual void send(const Beat& beat) const = 0;

 protected:
  std::vector<BeatPeer> peers_;
};

/// The connections over TCP.
class BeatLinks : public BeatWire {
 public:
  /// Called by all ranks together, the transport's only user at that time. Rank 0 listens on a port of its own, tells
  /// the others over the transport where and with which key, and keeps those that know the key. Takes at most
  /// `patience` beyond the transport's own time; a rank that could not be connected in it stays without.
  explicit BeatLinks(Ranks& ranks, std::chrono::milliseconds patience = std::chrono::seconds(3));
  ~BeatLinks() override;

  /// By rank: where it runs.
  const std::vector<std::string>& hosts() const { return hosts_; }
  /// How many ranks could not be connected with rank 0, the same everywhere.
  int unwatched() const { return unwatched_; }

  void send(const Beat& beat) const override;
  /// Waits for beats, at most this time or until wake(). heard(peer) for each, with the beat in peer.last; for a peer
  /// that has closed its end, `open` is false.
  using Heard = std::function<void(BeatPeer&)>;
  void listen(int milliseconds, const Heard& heard);
  /// Sends nothing more, and listens until all others have closed their ends, for a moment at most.
  void drain(const Heard& heard);
  /// Ends the listening of another thread.
  void wake() const;

 private:
  /// Of a peer: the bytes of its next beat, `filled` of them.
  struct Connection {
    Socket socket;
    std::array<std::byte, sizeof(Beat)> bytes{};
    std::size_t filled = 0;
  };
  void read_beats(std::size_t peer, const Heard& heard);

  std::vector<std::string> hosts_;
  std::vector<Connection> connections_;  // in the order of the peers
  int unwatched_ = 0;
  int wake_ = -1;  // an eventfd
};

}  // namespace lockstep
