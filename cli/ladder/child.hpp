#pragma once
// Programs that the ladder runs: each with a limit of time, and none outlives it.

#include <sys/types.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "cli/scores.hpp"

namespace lockstep::cli {

using Environment = std::vector<std::pair<std::string, std::string>>;
using Stopped = std::function<bool()>;  // the user wants to end: Ctrl-C

struct ChildEnd {
  int code = 0;     // as a shell counts
  std::string out;  // standard output
  std::string err;  // the last line of standard error
};

/// Runs a program to its end. Error(peer_lost) when it takes longer than `seconds`, Error(preempted) when `stopped`
/// says so: then it is ended, and all that came from it.
ChildEnd run_child(const std::vector<std::string>& words, const Environment& environment, double seconds,
                   const Stopped& stopped);

/// A program that answers commands by lines of JSON: the peers of bench/peers.
class Conversation {
 public:
  /// Starts it and waits for its first line. Errors as those of ask().
  Conversation(const std::vector<std::string>& words, const Environment& environment, double seconds, Stopped stopped);
  ~Conversation();
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;

  /// Error(peer_lost) when it does not answer within `seconds`, ends, or answers with something else.
  Json ask(const std::string& command, double seconds);
  const Json& greeting() const { return greeting_; }

 private:
  Json answer(double seconds);
  std::string last_words() const;
  void end();

  Stopped stopped_;
  pid_t child_ = -1;
  int to_ = -1, from_ = -1, errors_ = -1;
  std::string pending_;
  Json greeting_;
};

}  // namespace lockstep::cli
