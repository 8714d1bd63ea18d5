#pragma once
// The ranks of a Python script under mpirun or srun: MPI is started by the first training and ended with the
// interpreter.

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>

#include "lockstep/run/rank_session.hpp"

namespace lockstep::python {

class Net;

/// The session of this process. Null where no launcher started it with others; the first call starts MPI.
RankSession* session();
/// The same, where it was started.
bool has_session();

/// Trainers use the ranks of the session, and go before it.
void note_trainer(Net& net);
void forget_trainer(Net& net);

/// Error(integrity) on every rank, naming `what`, where `fact` is not the same on all of them.
void check_same(Ranks& ranks, const char* what, const std::string& fact);

void bind_session(nanobind::module_& module);

}  // namespace lockstep::python
