#pragma once
// Ranks as the processes of SimGrid's SMPI. A message takes the time that the simulated network gives it.

#include <memory>

#include "lockstep/parallel/transport.hpp"

namespace lockstep {

/// What a rank has sent.
struct Traffic {
  std::int64_t messages = 0, bytes = 0;
};

/// The calling rank's end; MPI has been started. `traffic` is counted up and must outlive it.
std::unique_ptr<Transport> make_smpi_transport(Traffic& traffic);

}  // namespace lockstep
