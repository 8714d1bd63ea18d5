#pragma once
// A program that answers commands by lines of JSON and keeps running between them, so that it can be measured in turns
// with others: the scripts of bench/peers and bench/reproduce. Between two commands its process group is stopped
// (SIGSTOP): threads that spin, timers and garbage collectors of an idle peer take no processor from another turn.

#include <string>
#include <vector>

#include "cli/output/json.hpp"
#include "cli/process/captured.hpp"

namespace lockstep::cli {

class Conversation {
 public:
  /// Starts it and waits for its first line. Errors as those of ask().
  Conversation(const std::vector<std::string>& words, const Environment& environment, double seconds,
               Stopped stopped = {});
  ~Conversation();
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;

  /// Error(peer_lost) when it does not answer within `seconds`, ends, or answers with something else than an object;
  /// Error(preempted) when `stopped` says so.
  Json ask(const std::string& command, double seconds);
  const Json& greeting() const { return greeting_; }

 private:
  Json answer(double seconds);
  void signal_group(int number) const;

  Stopped stopped_;
  Pipe to_, from_, errors_;
  int child_ = -1;
  std::string pending_, said_;  // said_: on standard error
  Json greeting_;
};

}  // namespace lockstep::cli
