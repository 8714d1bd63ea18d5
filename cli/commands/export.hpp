#pragma once
// lockstep export MODEL OUT: the weights (.safetensors, .npz, .mat) or the whole network (.onnx) for other programs.

#include "cli/command_line/options.hpp"

namespace lockstep::cli {

RunCommand export_command(Options& options);

}  // namespace lockstep::cli
