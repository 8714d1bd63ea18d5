#pragma once
// lockstep launch -n N ... train ...: starts mpirun, and starts it again from the last checkpoint when a rank is lost.
// Returns when the run is complete; ends with the exit code of the run (SilentEnd: the run has reported) when no rank
// is lost, or the restarts are used up. A signal (SIGINT, SIGTERM) is passed on: the run saves and ends with 10; when
// it does not end in time, or at a second signal, all of it is killed and Error(peer_lost) says so. No process that was
// started is left at the end, on this machine and on hosts that can be reached.

#include "cli/command_line/options.hpp"

namespace lockstep::cli {

RunCommand launch_command(Options& options);

}  // namespace lockstep::cli
