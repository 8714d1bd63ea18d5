#pragma once
// How bytes travel between the ranks of a run. Only point-to-point and non-blocking, so that a wait (ranks.hpp) can
// have a deadline. Every collective operation is built on top of it, so it is the same for MPI and for the
// ranks-as-threads of the tests, and one rank is an ordinary size.

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

/// What the functions that begin something return; valid until finished() has said true.
using TransportRequest = int;

/// One rank's end, for any of its threads. Messages between two ranks on one channel arrive in the order they were
/// sent; sizes are known to both sides. Threads that talk at the same time use channels of their own. Failures of the
/// library underneath are Error(peer_lost).
class Transport {
 public:
  virtual ~Transport() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// Ranks on this host, this one included, and its number among them.
  virtual int local_size() const = 0;
  virtual int local_rank() const = 0;
  /// Whether there are more ranks on this machine than processors that they may use together.
  virtual bool shares_cores() const { return false; }
  virtual std::string host() const = 0;
  /// "Open MPI 4.1.4": for people.
  virtual std::string describe() const = 0;

  /// Begin to move bytes; the memory stays untouched (send) or unread (receive) until the request is finished.
  virtual TransportRequest start_send(int to, int channel, std::span<const std::byte> bytes) = 0;
  virtual TransportRequest start_receive(int from, int channel, std::span<std::byte> bytes) = 0;
  /// Moves things on and says whether this request is finished; then the request is gone.
  virtual bool finished(TransportRequest request) = 0;

  /// Begin the library's own sum over all ranks, in place, in an order of its own: for comparison, never under the
  /// promise.
  virtual TransportRequest start_library_sum(std::span<float> values) = 0;
  virtual TransportRequest start_library_sum(std::span<double> values) = 0;

  /// Ends all ranks now.
  [[noreturn]] virtual void abort(int exit_code) = 0;

  /// Whether the bytes to move may also lie in the memory of a device of this backend (DeviceInfo::backend). What has
  /// been launched there to write or to read them must be done before they are sent or received.
  virtual bool takes_memory_of(std::string_view backend) const {
    static_cast<void>(backend);
    return false;
  }

  /// Whether messages travel with a checksum, where this transport has any: not for bytes in the memory of a device.
  /// The same on all ranks, and while none is under way.
  virtual void check_messages(bool /*on*/) {}
  /// The transport that moves the bytes.
  virtual const Transport& innermost() const { return *this; }
};

/// The only rank of a run.
std::unique_ptr<Transport> make_self_transport();

/// Ranks as threads of one process, for tests of everything above the transport, without a launcher: one end for each
/// of `size` ranks, by rank; each may be used by a thread of its own.
std::vector<std::unique_ptr<Transport>> make_thread_transports(int size);

/// A checksum travels with every message of `inner`: a message that arrives with other bits than were sent is
/// Error(integrity), which names both ranks.
std::unique_ptr<Transport> make_checked_transport(std::unique_ptr<Transport> inner);

/// Some of the ranks of `all`, this one among them, as the ranks 0, 1, ... of a transport of their own: its channel 0
/// is the given one of `all`. A library's sum is still over all of `all`. `all` must outlive it.
std::unique_ptr<Transport> make_group_transport(Transport& all, std::vector<int> ranks, int channel);

}  // namespace lockstep
