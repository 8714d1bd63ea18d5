#include "lockstep/parallel/ranks.hpp"

#include <sys/prctl.h>

#include <algorithm>
#include <cstdlib>
#include <thread>

#include <fmt/format.h>

#include "lockstep/core/environment.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/parallel/rank_wait.hpp"

namespace lockstep {

namespace {

using Clock = std::chrono::steady_clock;

// Beats come ten times as often, from a thread that does nothing else: ten are not missed by accident.
constexpr std::chrono::seconds kPeerTimeout{8};
// While no rank works, the answer is on its way or will never come: longer than any message takes.
constexpr std::chrono::seconds kWaitTimeout{300};

// MPI counts the bytes of a message in an int: a longer one travels in pieces.
constexpr std::size_t kPiece = std::size_t{1} << 30;

/// Linux lets sleepers lie up to 50 us longer, so that it wakes several at once: not this thread.
void wake_up_in_time() {
  thread_local const int done = ::prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
  static_cast<void>(done);
}

}  // namespace

std::chrono::nanoseconds peer_timeout() {
  const auto seconds = environment_number("LOCKSTEP_PEER_TIMEOUT");
  if (!seconds) return kPeerTimeout;
  return std::chrono::nanoseconds(static_cast<std::int64_t>(*seconds * 1e9));
}

std::chrono::nanoseconds wait_timeout() { return std::max<std::chrono::nanoseconds>(kWaitTimeout, peer_timeout()); }

Ranks::Ranks(std::unique_ptr<Transport> transport, std::chrono::nanoseconds timeout)
    : transport_(std::move(transport)),
      timeout_(timeout),
      sharers_(transport_->size()),
      shares_cores_(transport_->shares_cores()),
      status_(std::make_shared<RankStatus>()) {}

Ranks::Ranks(Ranks& all, std::vector<int> ranks, int channel)
    : transport_(make_group_transport(all.transport(), std::move(ranks), channel)),
      timeout_(all.timeout_),
      sharers_(transport_->size()),
      shares_cores_(transport_->shares_cores()),
      status_(all.status_) {}

void Ranks::send(int to, std::span<const std::byte> bytes) {
  for (; !bytes.empty(); bytes = bytes.subspan(std::min(bytes.size(), kPiece)))
    pending_.push_back({transport_->start_send(to, 0, bytes.first(std::min(bytes.size(), kPiece))), to});
}

void Ranks::receive(int from, std::span<std::byte> bytes) {
  for (; !bytes.empty(); bytes = bytes.subspan(std::min(bytes.size(), kPiece)))
    pending_.push_back({transport_->start_receive(from, 0, bytes.first(std::min(bytes.size(), kPiece))), from});
}

template <class T>
void Ranks::start_library_sum(std::span<T> values) {
  for (; !values.empty(); values = values.subspan(std::min(values.size(), kPiece / sizeof(T))))
    pending_.push_back(
        {transport_->start_library_sum(values.first(std::min(values.size(), kPiece / sizeof(T)))), kAll});
}
template void Ranks::start_library_sum(std::span<float>);
template void Ranks::start_library_sum(std::span<double>);

void Ranks::wait(const char* phase) {
  const auto start = Clock::now();
  auto idle_since = start;
  std::size_t left = pending_.size();
  const char* const before = status_->phase;
  while (true) {
    for (Pending& each : pending_) {
      if (each.done || !transport_->finished(each.request)) continue;
      each.done = true;
      --left;
    }
    if (left == 0) break;
    const auto now = Clock::now();
    const auto waited = now - start;
    if (shares_cores_ && waited < RankWait::kYield) std::this_thread::yield();
    if (waited < (shares_cores_ ? RankWait::kYield : RankWait::kSpin)) continue;
    status_->phase = phase;
    status_->waiting = true;
    if (status_->over) throw Error(ErrorCode::peer_lost, "the run is over");
    if (status_->somebody_works) idle_since = now;
    if (now - idle_since > timeout_) fail_silent(phase, waited);
    wake_up_in_time();
    std::this_thread::sleep_for(waited < RankWait::kNapsUntil ? RankWait::kNap : RankWait::kSleep);
  }
  status_->waiting = false;
  status_->phase = before;
  pending_.clear();
}

void Ranks::fail_silent(const char* phase, std::chrono::nanoseconds waited) const {
  const auto silent = std::find_if(pending_.begin(), pending_.end(), [](const Pending& p) { return !p.done; });
  throw Error(ErrorCode::peer_lost,
              fmt::format("rank {} on {} has not heard from {} for {:.0f} s in phase {}, after step {}: it is "
                          "dead, stopped or cut off; go on from the last checkpoint",
                          rank(), transport_->host(),
                          silent->peer == kAll ? "the others" : fmt::format("rank {}", silent->peer),
                          std::chrono::duration<double>(waited).count(), phase, status_->step.load()));
}

std::vector<std::string> Ranks::all_gather(const std::string& text, const char* phase) {
  std::vector<std::string> all(static_cast<std::size_t>(size()));
  std::vector<std::uint64_t> lengths(all.size());
  const std::uint64_t length = text.size();
  exchange(bytes_of(&length, 1),
           [&](int peer) { return writable_bytes_of(&lengths[static_cast<std::size_t>(peer)], 1); });
  wait(phase);
  exchange(std::as_bytes(std::span(text)), [&](int peer) {
    std::string& theirs = all[static_cast<std::size_t>(peer)];
    theirs.resize(lengths[static_cast<std::size_t>(peer)]);
    return std::as_writable_bytes(std::span(theirs));
  });
  wait(phase);
  all[static_cast<std::size_t>(rank())] = text;
  return all;
}

std::string Ranks::broadcast(const std::string& text, const char* phase) {
  std::uint64_t length = text.size();
  for (int peer = 1; leader() && peer < size(); ++peer) send(peer, bytes_of(&length, 1));
  if (!leader()) receive(0, writable_bytes_of(&length, 1));
  wait(phase);
  std::string result = text;
  result.resize(length);
  for (int peer = 1; leader() && peer < size(); ++peer)
    send(peer, bytes_of(result.data(), static_cast<std::int64_t>(length)));
  if (!leader()) receive(0, writable_bytes_of(result.data(), static_cast<std::int64_t>(length)));
  wait(phase);
  return result;
}

}  // namespace lockstep
