#include "cli/reproduce/experiment.hpp"

#include "cli/reproduce/conv_multicore/experiment.hpp"
#include "cli/reproduce/cuda_quadrants/experiment.hpp"
#include "cli/reproduce/mnist_mlp/experiment.hpp"
#include "cli/reproduce/mpi_digits/experiment.hpp"
#include "cli/reproduce/openmp_cuda_pytorch/experiment.hpp"

namespace lockstep::cli {

const std::vector<Experiment>& experiments() {
  static const std::vector<Experiment> all = {mpi_digits(), cuda_quadrants(), mnist_mlp(), openmp_cuda_pytorch(),
                                              conv_multicore()};
  return all;
}

}  // namespace lockstep::cli
