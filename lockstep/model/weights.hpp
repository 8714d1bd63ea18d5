#pragma once
// The parameters of a network as named arrays, and back: what every file of weights goes through.

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lockstep/data/array.hpp"
#include "lockstep/data/samples.hpp"
#include "lockstep/nn/network.hpp"

namespace lockstep {

/// Every parameter under ParameterInfo::name, in the network's precision, in the order of the parameter vector:
/// the names and shapes of torch.nn.Sequential ("0.weight" [out,in] or [out,in/groups,height,width], "0.bias" [out]).
std::vector<NamedArray> named_weights(const Network& network);

/// The same for a vector of parameters that is not, or no longer, the network's own.
std::vector<NamedArray> named_weights(std::span<const ParameterInfo> parameters, const ParameterValues& values);

/// Sets every parameter. Names and shapes must be those of the network, all of them and no others, save the step
/// counts that PyTorch keeps ("1.num_batches_tracked") and what a checkpoint holds besides the weights ("optimizer.*",
/// "checkpoint.*"); elements are float32 or float64 and are converted to the
/// network's precision. Error(data), beginning with `name`, says what the first mismatch is, with both shapes; the
/// network is then unchanged.
void set_weights(Network& network, std::span<const NamedArray> arrays, std::string_view name);

/// set_weights from a file: .safetensors, .npz, .pt or .pth (torch.hpp), .onnx, or .mat (Theta1, Theta2, ...; theta.hpp
/// tells what `rule` is for). Error(usage) for another extension, Error(checkpoint) for a damaged file of Lockstep
/// (seal.hpp), Error(data) for weights that are not finite.
void load_weights(const std::filesystem::path& path, Network& network, std::optional<LabelRule> rule = std::nullopt);

/// Takes some layers of a .safetensors, .npz, .pt, .pth or .onnx file: `map` has pairs of the beginnings of names,
/// {"conv1", "0"}: conv1.weight of the file becomes 0.weight of the network. Other parameters keep their values.
/// Error(data) where a pair matches no array of the file, or an array has no place in the network or another shape;
/// Error(usage) for another extension.
void load_mapped_weights(const std::filesystem::path& path, Network& network,
                         const std::vector<std::pair<std::string, std::string>>& map);

}  // namespace lockstep
