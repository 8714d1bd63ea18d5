#pragma once
// Ranks as the processes of SimGrid's SMPI. A message takes the time that the simulated network gives it.

#include <functional>
#include <memory>

#include "lockstep/parallel/transport.hpp"
#include "lockstep/simulate/machine_model.hpp"

namespace lockstep {

/// What a rank has sent.
struct Traffic {
  std::int64_t messages = 0, bytes = 0;
};

struct SmpiOptions {
  const MachineModel& model;             // must outlive the transport
  std::function<void(double)> add_work;  // adds seconds to the work of the rank's core, before its next message
  std::function<void()> work_off;        // returns when all of it is done
};

/// The calling rank's end; MPI has been started. `traffic` is counted up and must outlive it.
std::unique_ptr<Transport> make_smpi_transport(Traffic& traffic, SmpiOptions options);

}  // namespace lockstep
