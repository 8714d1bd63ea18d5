#pragma once
// How a run is started by the mpirun of Open MPI or of MPICH: its command line and environment, and on which hosts.

#include <string>
#include <vector>

#include "cli/process/captured.hpp"

namespace lockstep::cli {

struct Host {
  std::string name;
  int slots = 1;
};

/// A file with a host per line, "name slots=4" (as Open MPI writes it) or "name:4" (as MPICH does); # begins a comment.
/// Error(usage) names the line that is neither.
std::vector<Host> read_hosts(const std::string& file);

/// The mpirun to use.
struct Mpirun {
  std::string program;  // a path
  bool open_mpi = true;
  const char* name() const { return open_mpi ? "Open MPI" : "MPICH"; }
};

/// Error(usage) that names the package where there is none.
Mpirun find_mpirun(const std::string& wanted);

/// How ranks are started.
struct MpirunOptions {
  std::string hosts{};  // a file; empty: this machine
  std::string mpi{};    // openmpi, mpich; empty: what is installed, Open MPI first
  std::string bind_to = "none";
  std::string agent{};                 // starts commands on other hosts; empty: ssh
  std::string interface {};            // of the network between the hosts; empty: all
  std::vector<std::string> command{};  // of this program: train CONFIG.toml ...
};

struct StartCommand {
  std::vector<std::string> words;
  Environment environment;  // added to that of this process
};

/// `hosts` empty: this machine. `mark` stands in the environment of every rank as LOCKSTEP_LAUNCH.
StartCommand start_command(const Mpirun& mpirun, const MpirunOptions& options, int ranks,
                           const std::vector<Host>& hosts, bool resume, const std::string& mark);

/// Why this machine cannot start ranks; empty: it can.
std::string why_no_ranks();

/// This program again, as several ranks under mpirun: runs `launch.command` to its end.
Captured run_on_ranks(int ranks, const MpirunOptions& launch, const std::string& mark, CaptureOptions options);

}  // namespace lockstep::cli
