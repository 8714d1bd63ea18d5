#include "lockstep/nn/layers.hpp"

#include <array>

namespace lockstep {

std::string layer_type(const LayerSpec& spec) {
  static constexpr std::array names = {"linear",     "conv2d",     "max_pool2d", "avg_pool2d", "relu",
                                       "leaky_relu", "tanh",       "abs_tanh",   "sigmoid",    "gelu",
                                       "softmax",    "batch_norm", "dropout",    "flatten",    "residual"};
  static_assert(names.size() == std::variant_size_v<decltype(LayerSpec::kind)>);
  return names[spec.kind.index()];
}

}  // namespace lockstep
