#include "cli/exercise/exercises/list.hpp"

namespace lockstep::cli {

const std::vector<Exercise>& exercises() {
  static const std::vector<Exercise> all = {max_exercise(),
                                            relu_exercise(),
                                            batches_exercise(),
                                            initial_weights_exercise(),
                                            sigmoid_exercise(),
                                            sgd_exercise(),
                                            adam_exercise(),
                                            barrier_exercise(),
                                            max_pool_exercise(),
                                            linear_forward_exercise(),
                                            linear_backward_data_exercise(),
                                            linear_backward_weights_exercise(),
                                            binary_cross_entropy_exercise(),
                                            cost_exercise(),
                                            conv2d_forward_exercise(),
                                            xxt_exercise(),
                                            product_exercise()};
  return all;
}

}  // namespace lockstep::cli
