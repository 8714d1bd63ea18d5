#include "lockstep/parallel/heartbeat_links.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "lockstep/core/error.hpp"

namespace lockstep {

namespace {

using Clock = std::chrono::steady_clock;
using Key = std::array<std::byte, 16>;

// A rank that ends lets the others read its last beat: closing a connection with unread bytes would discard the beat.
constexpr std::chrono::milliseconds kDrain{300};

/// What rank 0 sends over the transport.
struct Invitation {
  Key key{};     // of those who connect
  Key answer{};  // of rank 0: an address may lead somewhere else, as to another host's 172.17.0.1
  std::uint16_t port = 0;
  std::uint16_t addresses = 0;
  std::array<in_addr, 32> list{};
};
struct Hello {
  Key key{};
  std::int32_t rank = 0;
};

int milliseconds_until(Clock::time_point end) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
  return left > 0 ? static_cast<int>(left) : 0;
}

/// IPv4 addresses of this host's interfaces that are up, the loopback last.
void list_addresses(Invitation& invitation) {
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return;
  for (const bool loopback : {false, true})
    for (const ifaddrs* each = all; each != nullptr && invitation.addresses < invitation.list.size();
         each = each->ifa_next) {
      if (each->ifa_addr == nullptr || each->ifa_addr->sa_family != AF_INET || (each->ifa_flags & IFF_UP) == 0 ||
          ((each->ifa_flags & IFF_LOOPBACK) != 0) != loopback)
        continue;
      sockaddr_in address{};
      std::memcpy(&address, each->ifa_addr, sizeof address);
      invitation.list[invitation.addresses++] = address.sin_addr;
    }
  ::freeifaddrs(all);
}

Socket listen_anywhere(Invitation& invitation) {
  Socket socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  socklen_t size = sizeof address;
  if (!socket.open() || ::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      ::listen(socket.get(), SOMAXCONN) != 0 ||
      ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0)
    return Socket();
  invitation.port = address.sin_port;
  return socket;
}

/// A connection on which something is expected first, of which a part may have come.
struct Greeting {
  Socket socket;
  std::array<std::byte, sizeof(Hello)> bytes{};
  std::size_t filled = 0;

  enum class State { incomplete, complete, failed };
  State read(std::size_t wanted) {
    const ssize_t got = ::recv(socket.get(), bytes.data() + filled, wanted - filled, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return State::incomplete;
    if (got <= 0) return State::failed;
    filled += static_cast<std::size_t>(got);
    return filled == wanted ? State::complete : State::incomplete;
  }
};

bool send_all(const Socket& socket, const void* data, std::size_t size) {
  return ::send(socket.get(), data, size, MSG_NOSIGNAL | MSG_DONTWAIT) == static_cast<ssize_t>(size);
}

/// Rank 0: fills in the sockets of those who come and know the key, until all are there or the time is over.
void accept_all(const Socket& listening, const Invitation& invitation, std::vector<Socket>& sockets,
                Clock::time_point end) {
  std::vector<Greeting> greetings;
  std::size_t missing = sockets.size() - 1;
  while (missing > 0 && Clock::now() < end) {
    std::vector<pollfd> events{{listening.get(), POLLIN, 0}};
    for (const Greeting& each : greetings) events.push_back({each.socket.get(), POLLIN, 0});
    if (::poll(events.data(), events.size(), milliseconds_until(end)) <= 0) continue;
    for (std::size_t i = events.size() - 1; i > 0; --i) {
      if (events[i].revents == 0) continue;
      Greeting& greeting = greetings[i - 1];
      const Greeting::State state = greeting.read(sizeof(Hello));
      if (state == Greeting::State::incomplete) continue;
      Hello hello;
      std::memcpy(&hello, greeting.bytes.data(), sizeof hello);
      const auto rank = static_cast<std::size_t>(hello.rank);
      // Of several connections of a rank, over several of our addresses, the first is kept.
      if (state == Greeting::State::complete && hello.key == invitation.key && rank > 0 && rank < sockets.size() &&
          !sockets[rank].open() && send_all(greeting.socket, invitation.answer.data(), invitation.answer.size())) {
        sockets[rank] = std::move(greeting.socket);
        --missing;
      }
      greetings.erase(greetings.begin() + static_cast<std::ptrdiff_t>(i - 1));
    }
    Socket next(::accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (next.open()) greetings.push_back({.socket = std::move(next)});
  }
}

/// Another rank: knocks at all addresses at once and keeps the one where rank 0 answers.
Socket reach_rank_0(const Invitation& invitation, int rank, bool same_host, Clock::time_point end) {
  std::vector<Greeting> tries;
  std::vector<bool> greeted;
  for (std::size_t i = 0; i < invitation.addresses; ++i) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = invitation.port;
    address.sin_addr = invitation.list[i];
    if ((ntohl(address.sin_addr.s_addr) >> 24) == 127 && !same_host) continue;  // that would be ourselves
    Socket socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!socket.open()) continue;
    if (::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 && errno != EINPROGRESS)
      continue;
    tries.push_back({.socket = std::move(socket)});
    greeted.push_back(false);
  }
  const Hello hello{invitation.key, rank};
  while (!tries.empty() && Clock::now() < end) {
    std::vector<pollfd> events;
    for (std::size_t i = 0; i < tries.size(); ++i)
      events.push_back({tries[i].socket.get(), static_cast<short>(greeted[i] ? POLLIN : POLLOUT), 0});
    if (::poll(events.data(), events.size(), milliseconds_until(end)) <= 0) continue;
    for (std::size_t i = events.size(); i-- > 0;) {
      if (events[i].revents == 0) continue;
      auto state = Greeting::State::incomplete;
      if (greeted[i])
        state = tries[i].read(invitation.answer.size());
      else if (!send_all(tries[i].socket, &hello, sizeof hello))
        state = Greeting::State::failed;
      greeted[i] = true;
      if (state == Greeting::State::complete &&
          std::memcmp(tries[i].bytes.data(), invitation.answer.data(), invitation.answer.size()) == 0)
        return std::move(tries[i].socket);
      if (state == Greeting::State::incomplete) continue;
      tries.erase(tries.begin() + static_cast<std::ptrdiff_t>(i));
      greeted.erase(greeted.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  return Socket();
}

}  // namespace

Socket& Socket::operator=(Socket&& other) noexcept {
  if (open()) ::close(descriptor_);
  descriptor_ = other.release();
  return *this;
}

Socket::~Socket() {
  if (open()) ::close(descriptor_);
}

int Socket::release() { return std::exchange(descriptor_, -1); }

BeatLinks::BeatLinks(Ranks& ranks, std::chrono::milliseconds patience)
    : hosts_(ranks.all_gather(ranks.transport().host(), "start")) {
  const auto size = static_cast<std::size_t>(ranks.size());
  std::vector<Socket> sockets(size);
  Invitation invitation;
  Socket listening;
  if (ranks.leader()) {
    listening = listen_anywhere(invitation);
    list_addresses(invitation);
    if (::getrandom(invitation.key.data(), sizeof(Key), 0) != sizeof(Key) ||
        ::getrandom(invitation.answer.data(), sizeof(Key), 0) != sizeof(Key) || !listening.open())
      invitation.addresses = 0;
  }
  const std::string text =
      ranks.broadcast(std::string(reinterpret_cast<const char*>(&invitation), sizeof invitation), "start");
  std::memcpy(&invitation, text.data(), std::min(text.size(), sizeof invitation));
  const auto end = Clock::now() + patience;
  if (invitation.addresses > 0 && ranks.leader())
    accept_all(listening, invitation, sockets, end);
  else if (invitation.addresses > 0)
    sockets[0] =
        reach_rank_0(invitation, ranks.rank(), hosts_[0] == hosts_[static_cast<std::size_t>(ranks.rank())], end);
  // A connection counts when both ends have it: a rank that came late may have given up, or rank 0 may
  // not know it.
  std::string own(size, '0');
  for (std::size_t rank = 0; rank < size; ++rank)
    if (sockets[rank].open()) own[rank] = '1';
  const std::vector<std::string> all = ranks.all_gather(own, "start");
  for (std::size_t rank = 1; rank < size; ++rank) {
    if (all[0][rank] == '1' && all[rank][0] == '1') continue;
    ++unwatched_;
    if (ranks.leader()) sockets[rank] = Socket();
    if (ranks.rank() == static_cast<int>(rank)) sockets[0] = Socket();
  }
  for (std::size_t rank = 0; rank < size; ++rank) {
    if (!sockets[rank].open()) continue;
    peers_.push_back({.rank = static_cast<int>(rank), .heard = Clock::now()});
    connections_.push_back({.socket = std::move(sockets[rank])});
  }
  wake_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake_ < 0) fail_system(ErrorCode::resources, "eventfd", errno);
}

BeatLinks::~BeatLinks() { ::close(wake_); }

void BeatLinks::wake() const { ::eventfd_write(wake_, 1); }

void BeatLinks::send(const Beat& beat) const {
  for (const Connection& each : connections_)
    if (each.socket.open())
      // A failure shows in the next read. Only a peer that has long been silent fills the buffer.
      static_cast<void>(::send(each.socket.get(), &beat, sizeof beat, MSG_NOSIGNAL | MSG_DONTWAIT));
}

void BeatLinks::listen(int milliseconds, const Heard& heard) {
  std::vector<pollfd> events{{wake_, POLLIN, 0}};
  for (const Connection& each : connections_) events.push_back({each.socket.get(), POLLIN, 0});  // closed: passed over
  if (::poll(events.data(), events.size(), milliseconds) <= 0) return;
  eventfd_t count = 0;
  if (events[0].revents != 0) ::eventfd_read(wake_, &count);
  for (std::size_t i = 0; i < peers_.size(); ++i)
    if (events[i + 1].revents != 0) read_beats(i, heard);
}

void BeatLinks::read_beats(std::size_t index, const Heard& heard) {
  BeatPeer& peer = peers_[index];
  Connection& from = connections_[index];
  while (from.socket.open()) {
    const ssize_t got =
        ::recv(from.socket.get(), from.bytes.data() + from.filled, from.bytes.size() - from.filled, MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) {
      from.socket = Socket();
      peer.open = false;
      return heard(peer);
    }
    peer.heard = Clock::now();
    from.filled += static_cast<std::size_t>(got);
    if (from.filled < sizeof(Beat)) continue;
    std::memcpy(&peer.last, from.bytes.data(), sizeof(Beat));
    peer.last.phase.back() = '\0';
    from.filled = 0;
    heard(peer);
  }
}

void BeatLinks::drain(const Heard& heard) {
  for (const Connection& each : connections_)
    if (each.socket.open()) ::shutdown(each.socket.get(), SHUT_WR);
  const auto end = Clock::now() + kDrain;
  const auto open = [](const BeatPeer& peer) { return peer.open; };
  while (std::any_of(peers_.begin(), peers_.end(), open) && Clock::now() < end) listen(20, heard);
}

}  // namespace lockstep
