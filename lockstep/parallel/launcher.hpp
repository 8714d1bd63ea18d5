#pragma once
// Which launcher started this process, told by what it leaves in the environment: nothing is initialised to find out.

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "lockstep/parallel/transport.hpp"
#include "lockstep/parallel/watchdog.hpp"

namespace lockstep {

enum class MpiLibrary { open_mpi, mpich };

struct Launcher {
  MpiLibrary library = MpiLibrary::open_mpi;
  int size = 1;      // as the launcher says
  std::string name;  // "mpirun (Open MPI)", for messages
};

/// Looks up an environment variable; null where it is not set.
using Environment = std::function<const char*(const char*)>;

/// The launcher, when it started more than one process; nothing for a process on its own. Error(usage), with the cure,
/// when several processes were started that could not find each other (srun without an MPI interface).
std::optional<Launcher> find_launcher(const Environment& environment);
/// In the environment of this process.
std::optional<Launcher> find_launcher();

/// The number of this process among those of its launcher on this host; nothing where none of the launchers says it.
std::optional<int> find_local_rank(const Environment& environment);
std::optional<int> find_local_rank();

/// The end of this process: MPI under a launcher, the only rank otherwise. Error(usage), with the cure, when the part
/// of this program for the launcher's MPI is missing or does not fit, or MPI says another number of ranks than the
/// launcher (each process then believes to be alone). `calls` is told of every call into MPI and must outlive it.
std::unique_ptr<Transport> connect_transport(LibraryCalls* calls = nullptr);

/// Ranks as MPI processes: opens the plugin of the launcher's MPI library (mpi/plugin.hpp) and starts MPI. The plugin
/// is looked for in LOCKSTEP_MPI_DIR, beside the program, and in ../lib/lockstep from there. Errors as above.
std::unique_ptr<Transport> make_mpi_transport(const Launcher& launcher, LibraryCalls* calls);

/// A communicator that another user of MPI in this process has made: mpi4py.
struct MpiCommunicator {
  MpiLibrary library = MpiLibrary::open_mpi;
  int handle = 0;  // of Fortran (MPI_Comm_c2f)
};

/// The ranks of a communicator: all of them call this together. Error(usage), with the cure, where the plugin has
/// another copy of MPI than the communicator, or MPI was started for one thread.
std::unique_ptr<Transport> make_mpi_transport(const MpiCommunicator& communicator, LibraryCalls* calls);

/// Whether the transport is one of make_mpi_transport with the ranks of the communicator in the same order.
bool has_ranks_of(const Transport& transport, const MpiCommunicator& communicator);

/// Whether the process that started this one is still there: mpirun, or its agent on this host.
class LauncherWatch {
 public:
  /// To be made early: a launcher that was gone before is not missed.
  LauncherWatch();

  bool gone() const;

 private:
  int parent_;
  int launcher_;  // an ancestor; the parent itself unless there is a script in between
};

}  // namespace lockstep
