#pragma once
// lockstep predict MODEL FILE... or --data SOURCE --rows 0,5,7-9

#include <cstdint>
#include <string>
#include <vector>

#include "cli/commands/model_data.hpp"
#include "cli/commands/picture.hpp"
#include "cli/output/console.hpp"
#include "lockstep/kernels/backend.hpp"

namespace lockstep::cli {

struct PredictArguments {
  std::string model;
  std::vector<std::string> files{};  // empty: rows of the data
  DataArguments data{};
  std::string rows{};    // empty: the first ten
  std::int64_t top = 3;  // classes shown per sample
  PictureOptions picture{};
  Backend backend = Backend::simd;
  int threads = 0;
};

/// Prints the most likely classes with their probabilities, or the outputs of a model of plain numbers.
void run_predict(const PredictArguments& arguments, Console& console);

}  // namespace lockstep::cli
