#include "lockstep/parallel/heartbeat.hpp"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <utility>

#include <fmt/format.h>

#include "lockstep/core/error.hpp"
#include "lockstep/parallel/watchdog.hpp"

namespace lockstep {

namespace {

constexpr int kLost = static_cast<int>(ExitCode::peer_lost);
constexpr int kBeatsPerSilence = 10;
// If this process was suspended for this number of periods, it does not judge its peers.
constexpr int kOwnPause = 3;
constexpr int kLater = 2;
// Of a second, used by the process: less is the heartbeat itself.
constexpr double kWorking = 0.001;
// Open MPI gives a process a second when the launcher is gone.
constexpr std::chrono::milliseconds kLauncherLook{200};
// Whoever ends lets the others read its last beat: a connection closed with unread bytes would take it back.
constexpr std::chrono::milliseconds kDrain{300};
constexpr const char* kResume = "go on from the last checkpoint";

double processor_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

std::string seconds_of(std::chrono::nanoseconds time) {
  return fmt::format("{:.3g} s", std::chrono::duration<double>(time).count());
}

}  // namespace

Heartbeat::Heartbeat(Ranks& ranks, HeartbeatOptions options)
    : ranks_(ranks),
      status_(ranks.status()),
      options_(std::move(options)),
      period_(std::chrono::duration_cast<Clock::duration>(options_.silence / kBeatsPerSilence)),
      calls_(options_.calls) {
  HeartbeatLinks links = connect_heartbeats(ranks);
  hosts_ = std::move(links.hosts);
  unwatched_ = static_cast<int>(std::count(links.connected.begin(), links.connected.end(), false));
  for (std::size_t rank = 0; rank < links.sockets.size(); ++rank)
    if (links.sockets[rank].open())
      peers_.push_back(
          {.rank = static_cast<int>(rank), .socket = std::move(links.sockets[rank]), .heard = Clock::now()});
  wake_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake_ < 0) fail_system(ExitCode::resources, "eventfd", errno);
  thread_ = start_quiet_thread([this] { run(); });
}

Heartbeat::~Heartbeat() {
  stopping_ = true;
  ::eventfd_write(wake_, 1);
  thread_.join();
  ::close(wake_);
}

int Heartbeat::unwatched() const { return unwatched_; }

bool Heartbeat::end_all(int exit_code, const std::string& line) {
  const bool first = finish_run(exit_code, line);
  ::eventfd_write(wake_, 1);
  return first;
}

int Heartbeat::verdict(std::chrono::nanoseconds patience) {
  std::unique_lock lock(mutex_);
  decided_.wait_for(lock, patience, [this] { return exit_code_ != 0; });
  return exit_code_;
}

void Heartbeat::run() {
  ::pthread_setname_np(::pthread_self(), "heartbeat");
  ticked_ = Clock::now() - period_;
  while (!stopping_) {
    const auto now = Clock::now();
    if (now - ticked_ >= period_) tick(now);
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(ticked_ + period_ - Clock::now()).count();
    listen(static_cast<int>(std::clamp<std::int64_t>(left + 1, 1, kLauncherLook.count())));
    look_for_launcher();
    const std::lock_guard lock(mutex_);
    if (exit_code_ == 0) continue;
    send_last();
    if (Clock::now() < deadline_) continue;
    if (!late_line_.empty()) options_.say(late_line_);
    options_.end ? options_.end(exit_code_) : ::_exit(exit_code_);
    return;
  }
  const std::lock_guard lock(mutex_);
  send_last();
  drain();
}

/// One period is over: beat, and look who has not.
void Heartbeat::tick(Clock::time_point now) {
  const bool paused = now - ticked_ > kOwnPause * period_;
  ticked_ = now;
  const double used = processor_seconds();
  const bool works = !status_.waiting && used - std::exchange(processor_seconds_, used) > kWorking;
  Beat beat = own_beat();
  beat.works = works;
  if (ranks_.leader()) {
    for (const Peer& peer : peers_) beat.works |= peer.socket.open() && peer.last.works;
    status_.somebody_works = beat.works;
  }
  if (!status_.over) send(beat);
  for (Peer& peer : peers_) {
    if (paused) peer.heard = now;
    // Rank 1 is the first to miss rank 0, and speaks: the others would tell it to end in silence.
    const auto patience = ranks_.rank() > 1 ? options_.silence + kLater * period_ : options_.silence;
    if (peer.socket.open() && now - peer.heard > patience)
      lose(peer, fmt::format("was silent for {}: it is stopped or cut off", seconds_of(options_.silence)));
  }
  look_for_standstill(beat.works || status_.somebody_works, paused);
}

/// The training's thread may be held in a call, and its own deadlines with it.
void Heartbeat::look_for_standstill(bool works, bool paused) {
  const Clock::duration elapsed = paused ? Clock::duration{} : period_;
  // Where several ranks are held at once, rank 0 speaks and the others hear it.
  const auto later = ranks_.leader() ? Clock::duration{} : kLater * period_;
  const std::string who = fmt::format("rank {} on {}", ranks_.rank(), ranks_.transport().host());
  if (calls_.stuck(elapsed) > options_.stuck_call + later)
    finish_run(kLost,
               fmt::format("{}: a call into {} that should take no time has not returned for {}, in phase {} after "
                           "step {}: another host, or a stranger's connection, keeps it waiting; {}",
                           who, ranks_.transport().describe(), seconds_of(options_.stuck_call), status_.phase.load(),
                           status_.step.load(), kResume));
  idle_ = works || paused ? Clock::duration{} : idle_ + period_;
  if (ranks_.size() > 1 && idle_ > options_.idle + later)
    finish_run(kLost, fmt::format("{}: no rank has done anything for {}, in phase {} after step {}; {}", who,
                                  seconds_of(options_.idle), status_.phase.load(), status_.step.load(), kResume));
}

void Heartbeat::look_for_launcher() {
  if (stopping_ || !options_.launcher_gone || !options_.launcher_gone()) return;
  finish_run(kLost, fmt::format("rank {} on {}: its launcher (mpirun, or its agent on this host) has ended; {}",
                                ranks_.rank(), ranks_.transport().host(), kResume));
}

/// Waits for beats, at most so long.
void Heartbeat::listen(int milliseconds) {
  std::vector<pollfd> events{{wake_, POLLIN, 0}};
  for (const Peer& peer : peers_) events.push_back({peer.socket.get(), POLLIN, 0});  // closed ones are passed over
  if (::poll(events.data(), events.size(), milliseconds) <= 0) return;
  eventfd_t count = 0;
  if (events[0].revents != 0) ::eventfd_read(wake_, &count);
  for (std::size_t i = 0; i < peers_.size(); ++i)
    if (events[i + 1].revents != 0) read(peers_[i]);
}

void Heartbeat::read(Peer& peer) {
  while (peer.socket.open()) {
    const ssize_t got =
        ::recv(peer.socket.get(), peer.bytes.data() + peer.filled, peer.bytes.size() - peer.filled, MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) {
      peer.socket = Socket();
      // A rank that leaves says so. The kernel closes the connections of a process that is killed.
      if (peer.last.kind == Kind::beat) lose(peer, "has died");
      return;
    }
    peer.heard = Clock::now();
    peer.filled += static_cast<std::size_t>(got);
    if (peer.filled < sizeof(Beat)) continue;
    Beat beat;
    std::memcpy(&beat, peer.bytes.data(), sizeof beat);
    peer.filled = 0;
    take(peer, beat);
  }
}

void Heartbeat::take(Peer& peer, const Beat& beat) {
  peer.last = beat;
  peer.last.phase.back() = '\0';
  if (!ranks_.leader()) status_.somebody_works = beat.works;
  if (beat.kind == Kind::over && !stopping_) finish_run(beat.exit_code, "");
}

void Heartbeat::lose(const Peer& peer, const std::string& how) {
  if (stopping_) return;  // nobody is needed any more
  // No rank is more than a step ahead of another: where this one is further than the last beat, it knows better.
  const std::int64_t step = status_.step;
  const bool further = step > peer.last.step;
  const std::string line = fmt::format(
      "rank {} on {} {}; it was in phase {} after step {}, as rank {} on {} knows; {}", peer.rank,
      hosts_[static_cast<std::size_t>(peer.rank)], how, further ? status_.phase.load() : peer.last.phase.data(),
      std::max(step, peer.last.step), ranks_.rank(), hosts_[static_cast<std::size_t>(ranks_.rank())], kResume);
  // Rank 0 is missed by all at once: rank 1 speaks. The first rank of another host speaks later, if it is still there:
  // when rank 1 was lost with rank 0.
  const auto elsewhere = std::find_if(hosts_.begin(), hosts_.end(), [&](const auto& h) { return h != hosts_[0]; });
  const bool speaks = ranks_.leader() || ranks_.rank() == 1;
  if (finish_run(kLost, speaks ? line : "") && !speaks && elsewhere - hosts_.begin() == ranks_.rank()) {
    const std::lock_guard lock(mutex_);
    late_line_ = line;
  }
}

/// The first reason counts.
bool Heartbeat::finish_run(int exit_code, const std::string& line) {
  {
    const std::lock_guard lock(mutex_);
    if (exit_code_ != 0) return false;
    exit_code_ = exit_code;
    deadline_ = Clock::now() + options_.grace;
    if (exit_code == kLost && options_.on_loss) options_.on_loss();
    if (!line.empty() && options_.say) options_.say(line);
    if (options_.on_over) options_.on_over(exit_code, line);
  }
  status_.over = true;
  decided_.notify_all();
  return true;
}

void Heartbeat::send(Beat beat) {
  for (const Peer& peer : peers_)
    if (peer.socket.open())
      // A failure shows in the next read. Only a peer that has long been silent fills the buffer.
      static_cast<void>(::send(peer.socket.get(), &beat, sizeof beat, MSG_NOSIGNAL | MSG_DONTWAIT));
}

/// Why this rank beats no more, once.
void Heartbeat::send_last() {
  if (std::exchange(told_, true)) return;
  Beat last = own_beat();
  last.kind = exit_code_ == 0 ? Kind::leaving : Kind::over;
  last.exit_code = static_cast<std::uint8_t>(exit_code_);
  send(last);
}

/// Takes in what the others still say, until they close.
void Heartbeat::drain() {
  for (const Peer& peer : peers_)
    if (peer.socket.open()) ::shutdown(peer.socket.get(), SHUT_WR);
  const auto end = Clock::now() + kDrain;
  const auto open = [](const Peer& peer) { return peer.socket.open(); };
  while (std::any_of(peers_.begin(), peers_.end(), open) && Clock::now() < end) listen(20);
}

Heartbeat::Beat Heartbeat::own_beat() {
  Beat beat;
  beat.step = status_.step;
  const char* phase = status_.phase;
  std::strncpy(beat.phase.data(), phase, beat.phase.size() - 1);
  return beat;
}

}  // namespace lockstep
