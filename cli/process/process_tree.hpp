#pragma once
// Child processes, the pipes to and from them, and their descendants, also those whose parents have ended.

#include <sys/types.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lockstep::cli {

using Clock = std::chrono::steady_clock;
using Environment = std::vector<std::pair<std::string, std::string>>;

/// From now on the orphans among this process's descendants become its children, so that they can be found and ended.
void adopt_orphans();

/// Descriptors that a program gets as its standard output and error; -1: those of this process.
struct Streams {
  int out = -1, err = -1;
  int in = -1;  // -1: no input
};

/// Starts a program in a process group of its own, with more environment and no input. It gets SIGTERM when this
/// process dies. Where it cannot be started, its exit code is 127.
pid_t start_process(const std::vector<std::string>& words, const Environment& environment = {},
                    const Streams& streams = {});

/// How a child ended, as a shell counts: its exit code, or 128 + the signal; nothing while it runs.
std::optional<int> ended(pid_t child);

/// Ends a process group of start_process: by SIGTERM, so that mpirun ends its ranks, and after three seconds by
/// SIGKILL. Returns how its leader ended (`ended`).
int end_group(pid_t child);

/// All descendants of this process.
std::vector<pid_t> descendants();
/// The descendants that run this program: ranks.
std::vector<pid_t> ranks_below();

/// Kills all descendants and waits until they are gone; false when that takes longer than `patience`.
bool kill_descendants(std::chrono::milliseconds patience);

/// Runs a command to its end, without input or output, and kills it when it takes too long. True when it ended with 0.
bool succeeds(const std::vector<std::string>& words, std::chrono::milliseconds patience);

/// How long to wait for the end of the streams of a program that has ended: a process that left its group may keep one
/// open for ever.
inline constexpr std::chrono::seconds kLastWords{1};

/// Both ends, closed when they are no longer needed: 0 is read from, 1 is written to.
class Pipe {
 public:
  Pipe();
  ~Pipe();
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  int operator[](std::size_t end) const { return ends_[end]; }
  /// Somebody may still write.
  bool open() const { return ends_[0] >= 0; }
  void close(std::size_t end);
  /// Adds what has arrived, up to 64 MiB in all; closes at the end of the stream.
  void read_into(std::string& text);

 private:
  std::array<int, 2> ends_{-1, -1};
};

/// Waits a moment for one of two pipes to have something, and reads it. A pipe at its end is no longer waited for.
void read_ready(Pipe& one, std::string& text_of_one, Pipe& other, std::string& text_of_other);

/// The last line of what a program said, without our own name before it; empty where it said nothing.
std::string last_line(std::string_view text);

}  // namespace lockstep::cli
