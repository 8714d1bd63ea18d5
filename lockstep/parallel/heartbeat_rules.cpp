#include "lockstep/parallel/heartbeat_rules.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "lockstep/core/error.hpp"

namespace lockstep {

namespace {

constexpr int kLost = static_cast<int>(ErrorCode::peer_lost);
constexpr int kBeatsPerSilence = 10;
// If this process was suspended for this number of periods, it does not judge its peers.
constexpr int kOwnPause = 3;
constexpr int kLater = 2;
// Of a second, used by the process: less is the heartbeat itself.
constexpr double kWorking = 0.001;
constexpr const char* kResume = "go on from the last checkpoint";

std::string seconds_of(std::chrono::nanoseconds time) {
  return fmt::format("{:.3g} s", std::chrono::duration<double>(time).count());
}

}  // namespace

HeartbeatRules::HeartbeatRules(BeatSelf self, RankStatus& status, BeatWire& wire, HeartbeatOptions options,
                               Clock::time_point now)
    : self_(std::move(self)),
      status_(status),
      wire_(wire),
      options_(std::move(options)),
      period_(std::chrono::duration_cast<Clock::duration>(options_.silence / kBeatsPerSilence)),
      ticked_(now - period_),
      calls_(options_.calls) {}

HeartbeatRules::Clock::duration HeartbeatRules::beat(Clock::time_point now, double processor_seconds) {
  if (now - ticked_ < period_) return ticked_ + period_ - now;
  const bool paused = now - ticked_ > kOwnPause * period_;
  ticked_ = now;
  const bool works =
      !status_.waiting && processor_seconds - std::exchange(processor_seconds_, processor_seconds) > kWorking;
  Beat beat = own_beat();
  beat.works = works;
  if (leader()) {
    for (const BeatPeer& peer : wire_.peers()) beat.works |= peer.open && peer.last.works;
    status_.somebody_works = beat.works;
  }
  if (!status_.over) wire_.send(beat);
  for (BeatPeer& peer : wire_.peers()) {
    if (paused) peer.heard = now;
    // Rank 1 is the first to miss rank 0, and speaks: the others would tell it to end in silence.
    const auto patience = self_.rank > 1 ? options_.silence + kLater * period_ : options_.silence;
    if (peer.open && now - peer.heard > patience)
      lose(peer, fmt::format("was silent for {}: it is stopped or cut off", seconds_of(options_.silence)), now);
  }
  look_for_standstill(beat.works || status_.somebody_works, paused, now);
  return period_;
}

/// The training's thread may be held in a call, and its own deadlines with it.
void HeartbeatRules::look_for_standstill(bool works, bool paused, Clock::time_point now) {
  const Clock::duration elapsed = paused ? Clock::duration{} : period_;
  // Where several ranks are held at once, rank 0 speaks and the others hear it.
  const auto later = leader() ? Clock::duration{} : kLater * period_;
  const std::string who = fmt::format("rank {} on {}", self_.rank, host());
  if (calls_.stuck(elapsed) > options_.stuck_call + later)
    end_all(kLost,
            fmt::format("{}: a call into {} that should take no time has not returned for {}, in phase {} after "
                        "step {}: another host, or a stranger's connection, keeps it waiting; {}",
                        who, self_.transport, seconds_of(options_.stuck_call), status_.phase.load(),
                        status_.step.load(), kResume),
            now);
  idle_ = works || paused ? Clock::duration{} : idle_ + period_;
  if (self_.size > 1 && idle_ > options_.idle + later)
    end_all(kLost,
            fmt::format("{}: no rank has done anything for {}, in phase {} after step {}; {}", who,
                        seconds_of(options_.idle), status_.phase.load(), status_.step.load(), kResume),
            now);
}

bool HeartbeatRules::settle(Clock::time_point now) {
  look_for_launcher(now);
  const std::lock_guard lock(verdict_.mutex);
  if (verdict_.exit_code == 0) return true;
  send_last();
  if (now < verdict_.deadline) return true;
  if (!verdict_.late_line.empty()) options_.say(verdict_.late_line);
  options_.end ? options_.end(verdict_.exit_code) : ::_exit(verdict_.exit_code);
  return false;
}

void HeartbeatRules::look_for_launcher(Clock::time_point now) {
  if (stopping_ || !options_.launcher_gone || !options_.launcher_gone()) return;
  end_all(kLost,
          fmt::format("rank {} on {}: its launcher (mpirun, or its agent on this host) has ended; {}", self_.rank,
                      host(), kResume),
          now);
}

void HeartbeatRules::leave() {
  const std::lock_guard lock(verdict_.mutex);
  send_last();
}

void HeartbeatRules::hear(const BeatPeer& peer, Clock::time_point now) {
  if (!peer.open) {
    // A rank that leaves says so. The kernel closes the connections of a process that is killed.
    if (peer.last.kind == Beat::Kind::beat) lose(peer, "has died", now);
    return;
  }
  if (!leader()) status_.somebody_works = peer.last.works;
  if (peer.last.kind == Beat::Kind::over && !stopping_) end_all(peer.last.exit_code, "", now);
}

void HeartbeatRules::lose(const BeatPeer& peer, const std::string& how, Clock::time_point now) {
  if (stopping_) return;  // the run has ended: no peer is needed any more
  // No rank is more than a step ahead of another: where this one is further than the last beat, it knows better.
  const std::vector<std::string>& hosts = self_.hosts;
  const std::int64_t step = status_.step;
  const bool further = step > peer.last.step;
  const std::string line = fmt::format("rank {} on {} {}; it was in phase {} after step {}, as rank {} on {} knows; {}",
                                       peer.rank, hosts[static_cast<std::size_t>(peer.rank)], how,
                                       further ? status_.phase.load() : peer.last.phase.data(),
                                       std::max(step, peer.last.step), self_.rank, host(), kResume);
  // Rank 0 is missed by all at once: rank 1 speaks. The first rank of another host speaks later, if it is still there:
  // when rank 1 was lost with rank 0.
  const auto elsewhere = std::find_if(hosts.begin(), hosts.end(), [&](const auto& h) { return h != hosts[0]; });
  const bool speaks = leader() || self_.rank == 1;
  if (end_all(kLost, speaks ? line : "", now) && !speaks && elsewhere - hosts.begin() == self_.rank) {
    const std::lock_guard lock(verdict_.mutex);
    verdict_.late_line = line;
  }
}

/// The first reason counts.
bool HeartbeatRules::end_all(int exit_code, const std::string& line, Clock::time_point now) {
  {
    const std::lock_guard lock(verdict_.mutex);
    if (verdict_.exit_code != 0) return false;
    verdict_.exit_code = exit_code;
    verdict_.deadline = now + options_.grace;
    if (exit_code == kLost && options_.on_loss) options_.on_loss();
    if (!line.empty() && options_.say) options_.say(line);
    if (options_.on_over) options_.on_over(exit_code, line);
  }
  status_.over = true;
  verdict_.decided.notify_all();
  return true;
}

int HeartbeatRules::verdict(std::chrono::nanoseconds patience) {
  std::unique_lock lock(verdict_.mutex);
  verdict_.decided.wait_for(lock, patience, [this] { return verdict_.exit_code != 0; });
  return verdict_.exit_code;
}

/// Why this rank beats no more, once.
void HeartbeatRules::send_last() {
  if (std::exchange(verdict_.told, true)) return;
  Beat last = own_beat();
  last.kind = verdict_.exit_code == 0 ? Beat::Kind::leaving : Beat::Kind::over;
  last.exit_code = static_cast<std::uint8_t>(verdict_.exit_code);
  wire_.send(last);
}

Beat HeartbeatRules::own_beat() const {
  Beat beat;
  beat.step = status_.step;
  const char* phase = status_.phase;
  std::strncpy(beat.phase.data(), phase, beat.phase.size() - 1);
  return beat;
}

}  // namespace lockstep
