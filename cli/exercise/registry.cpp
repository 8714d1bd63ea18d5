#include "cli/exercise/exercises/list.hpp"

namespace lockstep::cli {

const std::vector<Exercise>& exercises() {
  static const std::vector<Exercise> all = {max_exercise(), relu_exercise(), sigmoid_exercise(),
                                            linear_forward_exercise(), xxt_exercise()};
  return all;
}

}  // namespace lockstep::cli
