#include "cli/process/conversation.hpp"

#include <unistd.h>

#include <csignal>

#include <fmt/format.h>

#include "lockstep/core/error.hpp"

namespace lockstep::cli {

Conversation::Conversation(const std::vector<std::string>& words, const Environment& environment, double seconds,
                           Stopped stopped)
    : stopped_(std::move(stopped)) {
  child_ = start_process(words, environment, {.out = from_[1], .err = errors_[1], .in = to_[0]});
  to_.close(0);
  from_.close(1);
  errors_.close(1);
  try {
    greeting_ = answer(seconds);
    signal_group(SIGSTOP);
  } catch (...) {
    end_group(child_);
    throw;
  }
}

Conversation::~Conversation() { end_group(child_); }

Json Conversation::ask(const std::string& command, double seconds) {
  const std::string line = command + "\n";
  signal_group(SIGCONT);
  // Where it has ended the answer says why.
  if (::write(to_[1], line.data(), line.size()) < 0) to_.close(1);
  Json json = answer(seconds);
  signal_group(SIGSTOP);
  return json;
}

void Conversation::signal_group(int number) const { ::kill(-child_, number); }

Json Conversation::answer(double seconds) {
  const auto limit = Clock::now() + milliseconds_of(seconds);
  while (pending_.find('\n') == std::string::npos) {
    if (stopped_ && stopped_()) throw Error(ErrorCode::preempted, "stopped by a signal");
    if (Clock::now() > limit) throw Error(ErrorCode::peer_lost, fmt::format("no answer within {:.0f} s", seconds));
    if (!from_.open()) {
      for (const auto end = Clock::now() + kLastWords; errors_.open() && Clock::now() < end;)
        read_ready(from_, pending_, errors_, said_);
      const std::string last = last_line(said_);
      throw Error(ErrorCode::peer_lost, last.empty() ? "it ended" : last);
    }
    read_ready(from_, pending_, errors_, said_);
  }
  const std::size_t end = pending_.find('\n');
  Json json = Json::parse(pending_.substr(0, end), nullptr, false);
  pending_.erase(0, end + 1);
  if (!json.is_object()) throw Error(ErrorCode::peer_lost, "it answered with something else than JSON");
  return json;
}

}  // namespace lockstep::cli
