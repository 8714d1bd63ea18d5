#pragma once
#include "cli/reproduce/experiment.hpp"

namespace lockstep::cli {

Experiment mpi_digits();

}  // namespace lockstep::cli
