#pragma once
// lockstep export MODEL OUT

#include <string>

#include "cli/output/console.hpp"

namespace lockstep::cli {

struct ExportArguments {
  std::string model, out;
  bool overwrite = false;
};

/// Writes the weights (.safetensors, .npz, .mat) or the whole network (.onnx) for other programs.
void run_export(const ExportArguments& arguments, Console& console);

}  // namespace lockstep::cli
