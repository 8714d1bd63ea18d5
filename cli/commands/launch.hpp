#pragma once
// lockstep launch -n N ... train ...: starts mpirun, and starts it again from the last checkpoint when a rank is lost.

#include <string>
#include <vector>

#include "cli/output/console.hpp"

namespace lockstep::cli {

struct LaunchArguments {
  int ranks = 0;
  std::string hosts{};  // a file; empty: this machine
  int max_restarts = 3;
  std::string mpi{};  // openmpi, mpich; empty: what is installed, Open MPI first
  std::string bind_to = "none";
  std::string agent{};                 // as ssh; empty: ssh
  std::string interface {};            // of the network between the hosts; empty: all
  std::vector<std::string> command{};  // train CONFIG.toml ...
};

/// Returns when the run is complete. Ends with the exit code of the run (SilentEnd: the run has said why) where that is
/// none of a lost rank, or the restarts are used up. A signal (SIGINT, SIGTERM) is passed on: the run saves and ends
/// with 10; where it does not end in time, or at a second signal, all of it is killed and Error(peer_lost) says so.
/// Nothing that was started is left when this returns, on this machine and on hosts that can be reached.
void run_launch(const LaunchArguments& arguments, Console& console);

}  // namespace lockstep::cli
