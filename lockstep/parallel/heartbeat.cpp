#include "lockstep/parallel/heartbeat.hpp"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <utility>

#include <fmt/format.h>

#include "lockstep/core/error.hpp"
#include "lockstep/parallel/watchdog.hpp"

namespace lockstep {

namespace {

constexpr int kLost = static_cast<int>(ErrorCode::peer_lost);
constexpr int kBeatsPerSilence = 10;
// If this process was suspended for this number of periods, it does not judge its peers.
constexpr int kOwnPause = 3;
constexpr int kLater = 2;
// Of a second, used by the process: less is the heartbeat itself.
constexpr double kWorking = 0.001;
// Open MPI gives a process a second when the launcher is gone.
constexpr std::chrono::milliseconds kLauncherLook{200};
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
      links_(ranks),
      period_(std::chrono::duration_cast<Clock::duration>(options_.silence / kBeatsPerSilence)),
      calls_(options_.calls),
      thread_(start_quiet_thread([this] { run(); })) {}

Heartbeat::~Heartbeat() {
  stopping_ = true;
  links_.wake();
  thread_.join();
}

bool Heartbeat::end_all(int exit_code, const std::string& line) {
  const bool first = finish_run(exit_code, line);
  links_.wake();
  return first;
}

int Heartbeat::verdict(std::chrono::nanoseconds patience) {
  std::unique_lock lock(verdict_.mutex);
  verdict_.decided.wait_for(lock, patience, [this] { return verdict_.exit_code != 0; });
  return verdict_.exit_code;
}

void Heartbeat::run() {
  ::pthread_setname_np(::pthread_self(), "heartbeat");
  ticked_ = Clock::now() - period_;
  const auto heard = [this](const BeatPeer& peer) { hear(peer); };
  while (!stopping_) {
    const auto now = Clock::now();
    if (now - ticked_ >= period_) tick(now);
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(ticked_ + period_ - Clock::now()).count();
    links_.listen(static_cast<int>(std::clamp<std::int64_t>(left + 1, 1, kLauncherLook.count())), heard);
    look_for_launcher();
    const std::lock_guard lock(verdict_.mutex);
    if (verdict_.exit_code == 0) continue;
    send_last();
    if (Clock::now() < verdict_.deadline) continue;
    if (!verdict_.late_line.empty()) options_.say(verdict_.late_line);
    options_.end ? options_.end(verdict_.exit_code) : ::_exit(verdict_.exit_code);
    return;
  }
  const std::lock_guard lock(verdict_.mutex);
  send_last();
  links_.drain(heard);
}

/// At the end of a period: sends a beat, and looks for peers that have sent none.
void Heartbeat::tick(Clock::time_point now) {
  const bool paused = now - ticked_ > kOwnPause * period_;
  ticked_ = now;
  const double used = processor_seconds();
  const bool works = !status_.waiting && used - std::exchange(processor_seconds_, used) > kWorking;
  Beat beat = own_beat();
  beat.works = works;
  if (ranks_.leader()) {
    for (const BeatPeer& peer : links_.peers()) beat.works |= peer.socket.open() && peer.last.works;
    status_.somebody_works = beat.works;
  }
  if (!status_.over) links_.send(beat);
  for (BeatPeer& peer : links_.peers()) {
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

/// A beat has come, or the peer has closed its end.
void Heartbeat::hear(const BeatPeer& peer) {
  if (!peer.socket.open()) {
    // A rank that leaves says so. The kernel closes the connections of a process that is killed.
    if (peer.last.kind == Beat::Kind::beat) lose(peer, "has died");
    return;
  }
  if (!ranks_.leader()) status_.somebody_works = peer.last.works;
  if (peer.last.kind == Beat::Kind::over && !stopping_) finish_run(peer.last.exit_code, "");
}

void Heartbeat::lose(const BeatPeer& peer, const std::string& how) {
  if (stopping_) return;  // the run has ended: no peer is needed any more
  // No rank is more than a step ahead of another: where this one is further than the last beat, it knows better.
  const std::vector<std::string>& hosts = links_.hosts();
  const std::int64_t step = status_.step;
  const bool further = step > peer.last.step;
  const std::string line = fmt::format(
      "rank {} on {} {}; it was in phase {} after step {}, as rank {} on {} knows; {}", peer.rank,
      hosts[static_cast<std::size_t>(peer.rank)], how, further ? status_.phase.load() : peer.last.phase.data(),
      std::max(step, peer.last.step), ranks_.rank(), hosts[static_cast<std::size_t>(ranks_.rank())], kResume);
  // Rank 0 is missed by all at once: rank 1 speaks. The first rank of another host speaks later, if it is still there:
  // when rank 1 was lost with rank 0.
  const auto elsewhere = std::find_if(hosts.begin(), hosts.end(), [&](const auto& h) { return h != hosts[0]; });
  const bool speaks = ranks_.leader() || ranks_.rank() == 1;
  if (finish_run(kLost, speaks ? line : "") && !speaks && elsewhere - hosts.begin() == ranks_.rank()) {
    const std::lock_guard lock(verdict_.mutex);
    verdict_.late_line = line;
  }
}

/// The first reason counts.
bool Heartbeat::finish_run(int exit_code, const std::string& line) {
  {
    const std::lock_guard lock(verdict_.mutex);
    if (verdict_.exit_code != 0) return false;
    verdict_.exit_code = exit_code;
    verdict_.deadline = Clock::now() + options_.grace;
    if (exit_code == kLost && options_.on_loss) options_.on_loss();
    if (!line.empty() && options_.say) options_.say(line);
    if (options_.on_over) options_.on_over(exit_code, line);
  }
  status_.over = true;
  verdict_.decided.notify_all();
  return true;
}

/// Why this rank beats no more, once.
void Heartbeat::send_last() {
  if (std::exchange(verdict_.told, true)) return;
  Beat last = own_beat();
  last.kind = verdict_.exit_code == 0 ? Beat::Kind::leaving : Beat::Kind::over;
  last.exit_code = static_cast<std::uint8_t>(verdict_.exit_code);
  links_.send(last);
}

Beat Heartbeat::own_beat() const {
  Beat beat;
  beat.step = status_.step;
  const char* phase = status_.phase;
  std::strncpy(beat.phase.data(), phase, beat.phase.size() - 1);
  return beat;
}

}  // namespace lockstep
