#pragma once
// The connections that beats travel on: from every rank to rank 0, over TCP (IPv4), beside the transport.

#include <chrono>
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

struct HeartbeatLinks {
  /// By rank: rank 0 has one to every other rank, the others have one to rank 0; the rest is closed.
  std::vector<Socket> sockets;
  /// By rank: where it runs.
  std::vector<std::string> hosts;
  /// By rank, the same everywhere: whether it could be connected with rank 0; true for rank 0.
  std::vector<bool> connected;
};

/// Called by all ranks together, the transport's only user at that time. Rank 0 listens on a port of its own, tells the
/// others over the transport where and with which key, and keeps those that know the key. Takes at most `patience`
/// beyond the transport's own time; a rank that could not be connected in it stays without.
HeartbeatLinks connect_heartbeats(Ranks& ranks, std::chrono::milliseconds patience = std::chrono::seconds(3));

}  // namespace lockstep
