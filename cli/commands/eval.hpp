#pragma once
// lockstep eval MODEL

#include <string>

#include "cli/commands/model_data.hpp"
#include "cli/output/console.hpp"
#include "lockstep/kernels/backend.hpp"

namespace lockstep::cli {

struct EvalArguments {
  std::string model;
  DataArguments data{};
  Backend backend = Backend::simd;
  int threads = 0;       // 0: the trainer's choice
  bool verbose = false;  // tell which kernels and processors are used
};

/// Prints loss, accuracy and, for up to 30 classes, the confusion matrix.
void run_eval(const EvalArguments& arguments, Console& console);

}  // namespace lockstep::cli
