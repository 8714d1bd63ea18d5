#pragma once

#include <cstddef>
#include <vector>

#include "lockstep/nn/network.hpp"

namespace lockstep {

/// The network in inference mode as an ONNX file (opset 17): input "input" [N,features] or [N,channels,height,width],
/// output "output", N free, element type the network's precision, weights under their names. Dropout is left out;
/// GELU is written out in its tanh form; slopes and eps, attributes of float32 by the format, are rounded to it.
std::vector<std::byte> write_onnx(const Network& network);

}  // namespace lockstep
