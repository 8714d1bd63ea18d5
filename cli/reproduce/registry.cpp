#include "cli/reproduce/experiment.hpp"

#include "cli/reproduce/conv_multicore.hpp"
#include "cli/reproduce/cuda_quadrants.hpp"
#include "cli/reproduce/mnist_mlp.hpp"
#include "cli/reproduce/mpi_digits.hpp"
#include "cli/reproduce/openmp_cuda_pytorch.hpp"

namespace lockstep::cli {

const std::vector<Experiment>& experiments() {
  static const std::vector<Experiment> all = {mpi_digits(), cuda_quadrants(), mnist_mlp(), openmp_cuda_pytorch(),
                                              conv_multicore()};
  return all;
}

}  // namespace lockstep::cli
