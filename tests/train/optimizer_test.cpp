// An optimiser through the trainer against its published formula, in plain double arithmetic.
#include <gtest/gtest.h>

#include "lockstep/data/source.hpp"
#include "lockstep/train/trainer.hpp"

namespace lockstep {
namespace {

double sign(double x) { return double(x > 0) - double(x < 0); }

/// Chen et al. 2023, algorithm 2: u = sign(beta1 m + (1 - beta1) g); w -= lr (u + decay w); m = beta2 m + (1 - beta2)
/// g.
TEST(Lion, FollowsThePublishedFormula) {
  const Lion lion{.lr = 0.01, .beta1 = 0.9, .beta2 = 0.99, .weight_decay = 0.1};
  const auto data = load_data({.source = "moons", .count = 24}).train;
  Network network = Network::from_sizes({2, 5, 2}, Tanh{}, std::nullopt, Precision::float64);
  Trainer trainer(network, {.optimizer = lion, .batch = 24});
  std::vector<std::int64_t> ids(24);
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = std::int64_t(i);
  const std::size_t count = std::size_t(network.parameter_count());
  std::vector<double> w(network.data<double>(), network.data<double>() + count), m(count, 0);
  for (int step = 0; step < 20; ++step) {
    const std::vector<double> g = trainer.gradient(*data, ids);
    trainer.step(*data, ids);
    for (const ParameterInfo& info : network.parameters()) {
      const double decay = info.role == Role::weight ? lion.weight_decay : 0;
      for (std::size_t i = std::size_t(info.offset); i < std::size_t(info.offset + info.elements()); ++i) {
        const double u = sign(lion.beta1 * m[i] + (1 - lion.beta1) * g[i]);
        w[i] -= lion.lr * (u + decay * w[i]);
        m[i] = lion.beta2 * m[i] + (1 - lion.beta2) * g[i];
        EXPECT_NEAR(network.data<double>()[i], w[i], 1e-13) << info.name << " after step " << step;
      }
    }
  }
}

}  // namespace
}  // namespace lockstep
