// Watch a training from outside, and end it: callbacks of a Trainer, and an observer of a whole run.

#include <cstdio>
#include <filesystem>
#include <fstream>

#include <lockstep/lockstep.hpp>

using namespace lockstep;

namespace {

// Prints every epoch, and asks for an end when the loss is small enough.
void with_a_trainer() {
  const DataSplits data = load_data({.source = "moons", .count = 400});
  Network net({2});
  net.add(Linear{.out = 16}).add(Tanh{}).add(Linear{.out = 2});
  Trainer trainer(net, {.optimizer = Adam{.lr = 0.05}, .batch = 20});
  bool enough = false;
  const auto on_epoch = [&](const EpochReport& report) {
    std::printf("epoch %d: loss %.4f\n", int(report.epoch), report.train.loss);
    enough = report.train.loss < 0.05;
  };
  // One epoch at a time: a second fit goes on where the first one ended.
  for (int epoch = 0; epoch < 50 && !enough; ++epoch) trainer.fit(*data.train, {.epochs = 1, .on_epoch = on_epoch});
}

// A run writes a directory: configuration, metrics, checkpoints, model, report. It prints nothing by itself.
struct Log : RunObserver {
  void note(const std::string& line) override { std::printf("note: %s\n", line.c_str()); }
  void epoch(const EpochReport& report) override {
    std::printf("run, epoch %d: loss %.4f\n", int(report.epoch), report.train.loss);
  }
};

void with_a_run() {
  std::ofstream("callbacks.toml") << "[data]\nsource = \"moons\"\n[model]\nsizes = \"2-16-2\"\nactivation = \"tanh\"\n"
                                     "[train]\nepochs = 3\n";
  Log log;
  const RunResult result = train_run("callbacks.toml", {.out = "callbacks-run", .overwrite = true, .observer = &log});
  std::printf("%s in %s\n", short_hash(result.weight_hash).c_str(), result.directory.c_str());
}

}  // namespace

int main() {
  try {
    with_a_trainer();
    with_a_run();
  } catch (const Error& error) {
    std::fprintf(stderr, "callbacks: %s\n", error.what());
    return static_cast<int>(error.code());
  }
}
