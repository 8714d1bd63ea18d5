#pragma once
// A network's weights, or the network itself, for other programs.

#include <filesystem>
#include <optional>

#include "lockstep/data/targets.hpp"
#include "lockstep/nn/network.hpp"

namespace lockstep {

/// Writes the file, atomically, in the format of its extension:
///   .safetensors   the weights under the names of torch.nn.Sequential
///   .npz           the same names and shapes, for numpy.load
///   .mat           Theta1, Theta2, ... [out, 1 + in] in double: networks of linear layers only; `rule` tells in which
///                  order the last one has its rows (theta.hpp)
///   .onnx          the network in inference mode (export_onnx.hpp)
/// Error(usage) for another extension, or when the format cannot hold the network.
void export_model(const Network& network, const std::filesystem::path& path,
                  std::optional<LabelRule> rule = std::nullopt);

}  // namespace lockstep
