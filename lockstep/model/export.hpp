#pragma once
// A network's weights, or the network itself, for other programs.

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lockstep/data/samples.hpp"
#include "lockstep/model/model_file.hpp"
#include "lockstep/nn/network.hpp"

namespace lockstep {

/// Writes the file, atomically, in the format of its extension:
///   .safetensors   the weights under the names of torch.nn.Sequential
///   .npz           the same names and shapes, for numpy.load
///   .mat           Theta1, Theta2, ... [out, 1 + in] in double: networks of linear layers only; `rule` tells in which
///                  order the last one has its rows (theta.hpp)
///   .onnx          the network in inference mode (write_onnx), with `class_names` in its metadata
/// Error(usage) for another extension, or when the format cannot hold the network.
void export_model(const Network& network, const std::filesystem::path& path,
                  std::optional<LabelRule> rule = std::nullopt, std::span<const std::string> class_names = {});

/// The network in inference mode as an ONNX file (opset 17): input "input" [N,features] or [N,channels,height,width],
/// output "output", N free, element type the network's precision, weights under their names. Dropout is left out;
/// GELU is written out in its tanh form; slopes and eps, attributes of float32 by the format, are rounded to it.
/// `class_names`: where there are any, the metadata have the entry "class_names", a JSON list.
std::vector<std::byte> write_onnx(const Network& network, std::span<const std::string> class_names = {});

/// The same with what a model adds to its network: nodes that scale raw numbers as in training (Mul, Add) before the
/// first layer and, where the network ends in logits, Softmax or Sigmoid behind the last one. `raw` leaves these nodes
/// out. The metadata name the loss ("loss") and what the input is ("input": "raw numbers" or "scaled numbers"),
/// and that a white pixel is 255 ("white") where the source held bytes.
std::vector<std::byte> write_onnx(const Network& network, const ModelInfo& info, bool raw);

/// export_model of a model; `raw` concerns .onnx files only.
void export_model(const Network& network, const ModelInfo& info, const std::filesystem::path& path, bool raw);

/// The version of the operators in the files that are written.
inline constexpr int kOnnxOpset = 17;

}  // namespace lockstep
