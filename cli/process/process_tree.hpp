#pragma once
// Child processes and their descendants, also those whose parents have ended.

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

}  // namespace lockstep::cli
