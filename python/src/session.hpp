#pragma once
// The ranks of a Python script under mpirun or srun: MPI is started by the first training, or by mpi4py, and Lockstep's
// part of it ends with the interpreter.

#include <nanobind/nanobind.h>

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>

#include "lockstep/run/rank_session.hpp"

namespace lockstep::python {

class Net;

/// A communicator of mpi4py as _ranks.py hands it over: the name of its MPI library, its handle of Fortran, its size.
/// None: all ranks of the launcher.
using Communicator = std::optional<std::tuple<std::string, int, int>>;

/// The session of all ranks of the launcher. Null where no launcher started this process with others; the first call
/// starts MPI.
RankSession* session();
/// The session of these ranks, which all of them ask for together. Communicators of the same ranks share one.
RankSession* session(const Communicator& communicator);

/// Trainers use the ranks of the session, and go before it.
void note_trainer(Net& net);
void forget_trainer(Net& net);

/// Error(integrity) on every rank, naming `what`, where `fact` is not the same on all of them.
void check_same(Ranks& ranks, const char* what, const std::string& fact);

void bind_session(nanobind::module_& module);

}  // namespace lockstep::python
