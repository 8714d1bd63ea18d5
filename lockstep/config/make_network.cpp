#include <fmt/format.h>

#include "lockstep/config/config.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/model/theta.hpp"
#include "lockstep/model/weights.hpp"

namespace lockstep {

std::string misfit_origin(const RunConfig& config) {
  const ModelConfig& model = config.model;
  const bool needs_sigmoid = config.train.loss == Loss::binary_cross_entropy && !model.layer_origins.empty() &&
                             !std::holds_alternative<Sigmoid>(model.layers.back().kind);
  return needs_sigmoid ? model.layer_origins.back() : config.name;
}

Network make_network(const RunConfig& config) {
  Network network(config.model.input, config.model.precision, config.model.init);
  const auto& origins = config.model.layer_origins;
  for (std::size_t i = 0; i < config.model.layers.size(); ++i) {
    try {
      network.add(config.model.layers[i]);
    } catch (const Error& error) {
      throw Error(error.code(), fmt::format("{}: {}", i < origins.size() ? origins[i] : config.name, error.what()));
    }
  }
  network.initialise_later(config.train.seed);
  if (!config.model.init_file.empty()) load_weights(config.model.init_file, network, weight_rule(config.data));
  return network;
}

}  // namespace lockstep
