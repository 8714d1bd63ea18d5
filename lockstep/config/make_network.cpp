#include <fmt/format.h>

#include "lockstep/config/config.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/train/theta.hpp"
#include "lockstep/train/weights.hpp"

namespace lockstep {

Network make_network(const RunConfig& config) {
  Network network(config.model.input, config.model.precision, config.model.init);
  for (const LayerSpec& layer : config.model.layers) {
    try {
      network.add(layer);
    } catch (const Error& error) {
      throw Error(error.code(), fmt::format("{}: {}", config.name, error.what()));
    }
  }
  network.initialise_later(config.train.seed);
  if (!config.model.init_file.empty()) load_weights(config.model.init_file, network, weight_rule(config.data));
  return network;
}

}  // namespace lockstep
