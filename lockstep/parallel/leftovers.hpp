#pragma once
// What an MPI library leaves on a machine when it is not finalised.

#include <sys/types.h>

#include <filesystem>
#include <set>

namespace lockstep {

/// What the MPI library of a process keeps on this host under a name: the shared memory of its job, as far as it knows,
/// and, where the launcher is not there to remove it, the folder of Open MPI's session.
std::set<std::filesystem::path> mpi_leftovers(pid_t process, bool launcher_gone);

/// Whether this is the folder of one of Open MPI's sessions, by its name: <tmp>/ompi.<host>.<user>/pid.<n> on the
/// launcher's host, jf.<n> on others.
bool is_session(const std::filesystem::path& path);

/// Removes them, for an end without MPI_Finalize.
void remove_leftovers(const std::set<std::filesystem::path>& leftovers);

}  // namespace lockstep
