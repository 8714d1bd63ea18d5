#pragma once
// A network cut into stages, one after the other: each rank of a pipeline holds the layers and parameters of one.

#include <cstdint>
#include <vector>

#include "lockstep/nn/network.hpp"

namespace lockstep {

/// Some consecutive layers. Their parameters form a vector of their own, trainable ones first, as in the network; both
/// halves of it are stretches of the network's vector.
struct Stage {
  std::vector<LayerPlan> plans;                           // with offsets into the stage's vector
  std::vector<ParameterInfo> parameters;                  // of these layers, in the order of the vector
  std::vector<std::size_t> places;                        // of these parameters in Network::parameters()
  std::int64_t trainable = 0, count = 0;                  // of the vector: elements
  std::int64_t first_trainable = 0, first_statistic = 0;  // where its halves begin in the network's vector
  std::int64_t inputs = 0, outputs = 0;                   // numbers per sample
};

/// Cuts `body`, the network's layers that training runs, into stages whose slowest one takes as little time as can be.
/// Error(usage) when there are more stages than layers.
std::vector<Stage> cut_into_stages(const Network& network, const std::vector<LayerPlan>& body, int stages);

/// The last layer of each stage, exclusively, for layers of such costs: the largest sum of a stage is as small as can
/// be. At least one layer each.
std::vector<std::size_t> balanced_cuts(const std::vector<double>& costs, std::size_t stages);

}  // namespace lockstep
