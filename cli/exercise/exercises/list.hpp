#pragma once
// The exercises, one function per file of this folder; registry.cpp has them in the order of a course.

#include "cli/exercise/exercise.hpp"

namespace lockstep::cli {

Exercise max_exercise();
Exercise relu_exercise();
Exercise sigmoid_exercise();
Exercise linear_forward_exercise();
Exercise xxt_exercise();

}  // namespace lockstep::cli
