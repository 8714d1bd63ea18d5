#include "cli/reproduce/experiment.hpp"

#include "cli/reproduce/conv_multicore.hpp"
#include "cli/reproduce/cuda_quadrants.hpp"
#include "cli/reproduce/mpi_digits.hpp"

namespace lockstep::cli {

const std::vector<Experiment>& experiments() {
  static const std::vector<Experiment> all = {mpi_digits(), cuda_quadrants(), conv_multicore()};
  return all;
}

}  // namespace lockstep::cli
