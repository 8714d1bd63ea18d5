#pragma once
// The exercises, one function per file of this folder; registry.cpp has them in the order of a course.

#include "cli/exercise/exercise.hpp"

namespace lockstep::cli {

Exercise max_exercise();
Exercise relu_exercise();
Exercise batches_exercise();
Exercise initial_weights_exercise();
Exercise sigmoid_exercise();
Exercise sgd_exercise();
Exercise adam_exercise();
Exercise barrier_exercise();
Exercise max_pool_exercise();
Exercise linear_forward_exercise();
Exercise linear_backward_data_exercise();
Exercise linear_backward_weights_exercise();
Exercise binary_cross_entropy_exercise();
Exercise cost_exercise();
Exercise conv2d_forward_exercise();
Exercise xxt_exercise();
Exercise product_exercise();

}  // namespace lockstep::cli
