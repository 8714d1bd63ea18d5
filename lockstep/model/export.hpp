#pragma once
// A network's weights, or the network itself, for other programs.

#include <cstddef>
#include <filesystem>
#include <optional>
#include <vector>

#include "lockstep/data/samples.hpp"
#include "lockstep/nn/network.hpp"

namespace lockstep {

/// Writes the file, atomically, in the format of its extension:
///   .safetensors   the weights under the names of torch.nn.Sequential
///   .npz           the same names and shapes, for numpy.load
///   .mat           Theta1, Theta2, ... [out, 1 + in] in double: networks of linear layers only; `rule` tells in which
///                  order the last one has its rows (theta.hpp)
///   .onnx          the network in inference mode (write_onnx)
/// Error(usage) for another extension, or when the format cannot hold the network.
void export_model(const Network& network, const std::filesystem::path& path,
                  std::optional<LabelRule> rule = std::nullopt);

/// The network in inference mode as an ONNX file (opset 17): input "input" [N,features] or [N,channels,height,width],
/// output "output", N free, element type the network's precision, weights under their names. Dropout is left out;
/// GELU is written out in its tanh form; slopes and eps, attributes of float32 by the format, are rounded to it.
std::vector<std::byte> write_onnx(const Network& network);

}  // namespace lockstep
