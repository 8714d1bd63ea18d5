#pragma once
#include "cli/reproduce/experiment.hpp"

namespace lockstep::cli {

Experiment cuda_quadrants();

}  // namespace lockstep::cli
