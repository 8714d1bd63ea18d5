#pragma once
// Ranks as MPI processes, through the plugin of the launcher's MPI library (mpi/plugin.hpp).

#include <memory>

#include "lockstep/parallel/launcher.hpp"

namespace lockstep {

/// Opens the plugin and starts MPI. It is looked for in LOCKSTEP_MPI_DIR, beside the program, and in ../lib/lockstep
/// from there. Errors as connect_transport says.
std::unique_ptr<Transport> make_mpi_transport(const Launcher& launcher, LibraryCalls* calls);

}  // namespace lockstep
