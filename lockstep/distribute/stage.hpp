#pragma once
// A network cut into stages, one after the other, and each stage split over the members of a tensor group: what one
// rank holds of the network.

#include <cstdint>
#include <vector>

#include "lockstep/kernels/loss.hpp"
#include "lockstep/nn/network.hpp"

namespace lockstep {

/// Consecutive elements of a rank's vector, and where they lie in the network's.
struct Piece {
  std::int64_t own = 0, whole = 0, count = 0;
};

/// Some consecutive layers, or one member's part of each. Their parameters form a vector of their own, trainable ones
/// first, as in the network.
struct Stage {
  std::vector<LayerPlan> plans;           // with offsets into the stage's vector
  std::vector<ParameterInfo> parameters;  // of these layers, in the order of the vector
  std::vector<std::size_t> places;        // of these parameters in Network::parameters()
  std::vector<Piece> pieces;              // of the vector; trainable ones first
  std::int64_t trainable = 0, count = 0;  // of the vector: elements
  std::int64_t columns = 0;               // elements of the second copy of the weights (nn/columns.hpp)
  std::int64_t inputs = 0, outputs = 0;   // numbers per sample
  int member = 0;
  Split in_split, out_split;  // how the members pass activations on, and their gradients
};

/// The layers that run in training: without a final softmax or sigmoid that the loss contains. Throws Error(usage) when
/// network and loss do not fit.
std::vector<LayerPlan> body_of(const Network& network, Loss loss);

/// Cuts `body`, the network's layers that training runs, into stages so that the slowest one takes the least time,
/// and splits each over `members`: those of the first stage come first. Error(usage) when there are more stages than
/// layers. `weighed`: the layers for another number of steps, whose time decides; null: that of `body`.
std::vector<Stage> cut_into_stages(const Network& network, const std::vector<LayerPlan>& body, int stages,
                                   int members = 1, const std::vector<LayerPlan>* weighed = nullptr);

/// The last layer of each stage, exclusively, for layers of these costs: minimises the largest sum of a stage. At least
/// one layer each.
std::vector<std::size_t> balanced_cuts(const std::vector<double>& costs, std::size_t stages);

}  // namespace lockstep
