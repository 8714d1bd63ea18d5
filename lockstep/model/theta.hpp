#pragma once
// The weights of fully connected networks as MATLAB courses keep them: ThetaK [out, 1 + in] belongs to the K-th linear
// layer, counted from 1; its first column is the bias. Row r (from 1) of the last layer answers for label r, so the
// rule that turns labels into classes (samples.hpp) tells its output: with 10 rows, row 10 is output 0; with any other
// number, row r is output r - 1. A rule that is given decides instead; as_stored keeps the order of the rows.

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "lockstep/data/array.hpp"
#include "lockstep/data/samples.hpp"
#include "lockstep/data/source.hpp"
#include "lockstep/nn/network.hpp"

namespace lockstep {

/// Theta1, Theta2, ... in float64; a layer without bias has a first column of zeros. Error(usage) when the network has
/// layers with parameters other than linear ones, layers that need an image, or no linear layer at all.
std::vector<NamedArray> thetas(const Network& network, std::optional<LabelRule> rule = std::nullopt);

/// Sets every parameter from Theta1, Theta2, ...; other arrays are ignored. Error(usage) as above; Error(data),
/// beginning with `name`, when a matrix is missing, has another shape, or when there are more of them than layers.
void set_thetas(Network& network, std::span<const NamedArray> arrays, std::string_view name,
                std::optional<LabelRule> rule = std::nullopt);

/// The rule that the settings of the data give: rows of weights in a .mat file follow the labels; real targets have
/// none.
std::optional<LabelRule> weight_rule(const DataConfig& data);

}  // namespace lockstep
