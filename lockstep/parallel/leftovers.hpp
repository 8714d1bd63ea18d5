#pragma once
// What an MPI library leaves on a machine when it is not finalised.

namespace lockstep {

/// Before an end without MPI_Finalize: removes the names of the shared memory of this job that this process has mapped,
/// and, where the launcher is gone and cannot do it, the folder for Open MPI's session on this host.
void remove_mpi_leftovers(bool launcher_gone);

}  // namespace lockstep
