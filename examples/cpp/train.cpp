// Describe a network, train it, look at the result, save it.

#include <cstdio>

#include <lockstep/lockstep.hpp>

int main() {
  using namespace lockstep;
  try {
    // 400 points of two classes; a file is {.source = "my.csv"}.
    const DataSplits data = load_data({.source = "moons", .count = 400, .test_count = 100});

    Network net({2});
    net.add(Linear{.out = 16}).add(Tanh{}).add(Linear{.out = 2});

    Trainer trainer(net, {.loss = Loss::cross_entropy, .optimizer = Adam{.lr = 0.05}, .batch = 20, .seed = 1});
    trainer.fit(*data.train, {.epochs = 20});

    const Scores scores = trainer.evaluate(*data.test);
    std::printf("right on %.1f %% of the test points\n", 100 * *scores.accuracy());
    std::printf("weights %s: the same on any number of threads\n", short_hash(weight_hash(net.values())).c_str());
    save_model("moons.safetensors", net);
    export_model(net, "moons.onnx");
  } catch (const Error& error) {
    std::fprintf(stderr, "train: %s\n", error.what());
    return static_cast<int>(error.code());
  }
}
