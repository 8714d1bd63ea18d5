#pragma once
// Child processes and all that comes from them, which is followed even when those in between are gone.

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace lockstep::cli {

/// From now on the orphans among this process's descendants become its children, so that they can be found and ended.
void adopt_orphans();

/// Descriptors that a program gets as its standard output and error; -1: those of this process.
struct Streams {
  int out = -1, err = -1;
  int in = -1;  // -1: no input
};

/// Starts a program in a process group of its own, with more environment and no input. It gets SIGTERM when this
/// process dies. Where it cannot be started, its exit code is 127.
pid_t start_process(const std::vector<std::string>& words,
                    const std::vector<std::pair<std::string, std::string>>& environment = {},
                    const Streams& streams = {});

/// How a child ended, as a shell counts: its exit code, or 128 + the signal; nothing while it runs.
std::optional<int> ended(pid_t child);

/// Ends a process group that start_process began: politely, so that mpirun takes its ranks along, after three seconds
/// not. How its leader ended, as `ended` says it.
int end_group(pid_t child);

/// All processes that come from this one.
std::vector<pid_t> descendants();
/// Those of them that run this program: ranks.
std::vector<pid_t> ranks_below();

/// Kills all that comes from this process and waits until it is gone; false when that took too long.
bool kill_descendants(std::chrono::milliseconds patience);

/// Runs a command to its end, without input or output, and kills it when it takes too long. True when it ended with 0.
bool succeeds(const std::vector<std::string>& words, std::chrono::milliseconds patience);

}  // namespace lockstep::cli
