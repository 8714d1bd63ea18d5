#include "lockstep/parallel/heartbeat.hpp"

#include <pthread.h>

#include <algorithm>
#include <ctime>
#include <utility>

namespace lockstep {

namespace {

using Clock = HeartbeatRules::Clock;

// Open MPI gives a process a second when the launcher is gone.
constexpr std::chrono::milliseconds kLauncherLook{200};

double processor_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace

Heartbeat::Heartbeat(Ranks& ranks, HeartbeatOptions options)
    : links_(ranks),
      rules_({ranks.rank(), ranks.size(), ranks.transport().describe(), links_.hosts()}, ranks.status(), links_,
             std::move(options), Clock::now()),
      thread_(start_quiet_thread([this] { run(); })) {}

Heartbeat::~Heartbeat() {
  rules_.stop();
  links_.wake();
  thread_.join();
}

bool Heartbeat::end_all(int exit_code, const std::string& line) {
  const bool first = rules_.end_all(exit_code, line, Clock::now());
  links_.wake();
  return first;
}

int Heartbeat::verdict(std::chrono::nanoseconds patience) { return rules_.verdict(patience); }

void Heartbeat::run() {
  ::pthread_setname_np(::pthread_self(), "heartbeat");
  const auto heard = [this](const BeatPeer& peer) { rules_.hear(peer, Clock::now()); };
  while (!rules_.stopping()) {
    const auto due = rules_.beat(Clock::now(), processor_seconds());
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(due).count();
    links_.listen(static_cast<int>(std::clamp<std::int64_t>(left + 1, 1, kLauncherLook.count())), heard);
    if (!rules_.settle(Clock::now())) return;
  }
  rules_.leave();
  links_.drain(heard);
}

}  // namespace lockstep
