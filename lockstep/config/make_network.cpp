#include <fmt/format.h>

#include "lockstep/config/config.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/train/weights.hpp"

namespace lockstep {

Network make_network(const RunConfig& config) {
  Network network(config.model.input, config.model.precision, config.model.init);
  for (std::size_t i = 0; i < config.model.layers.size(); ++i) {
    try {
      network.add(config.model.layers[i]);
    } catch (const Error& error) {
      throw Error(error.code(), fmt::format("{}: model.layers[{}]: {}", config.name, i, error.what()));
    }
  }
  network.initialise(config.train.seed);
  if (!config.model.init_file.empty()) load_weights(config.model.init_file, network);
  return network;
}

}  // namespace lockstep
