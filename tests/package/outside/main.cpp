// What a user's first program does: include, link, describe a network, train it, run.
#include <cstdio>

#include "lockstep/lockstep.hpp"

int main() {
  using namespace lockstep;
  const DataSplits data = load_data({.source = "moons", .count = 200});
  Network net({2});
  net.add(Linear{.out = 8}).add(Tanh{}).add(Linear{.out = 2});
  Trainer trainer(net, {.loss = Loss::cross_entropy, .optimizer = Adam{.lr = 0.05}, .batch = 20, .seed = 1});
  trainer.fit(*data.train, {.epochs = 10});
  const double accuracy = *trainer.evaluate(*data.train).accuracy();
  std::printf("accuracy %.3f, weights %s\n", accuracy, short_hash(weight_hash(net.values())).c_str());
  return accuracy > 0.8 ? 0 : 1;
}
