// Networks whose layers follow each other in unusual ways, split over ranks: the gradient and the weights of one
// process.

#include <gtest/gtest.h>

#include "lockstep/nn/network.hpp"
#include "tests/parallel/rank_threads.hpp"
#include "tests/promise/networks.hpp"

namespace lockstep {
namespace {

const Shape kImage{2, 6, 6};

struct Odd {
  const char* name;
  std::vector<LayerSpec> layers;
};

std::vector<Odd> odd_networks() {
  return {
      {"channel layers first", {BatchNorm{}, Relu{}, MaxPool2d{}, Flatten{}, Linear{.out = 10}}},
      {"layers behind a flatten",
       {Conv2d{.out = 5, .kernel = 3}, Flatten{}, BatchNorm{}, Gelu{}, Dropout{.p = 0.4}, Linear{.out = 10}}},
      {"groups",
       {Conv2d{.out = 12, .kernel = 3, .pad = 1, .groups = 2}, Tanh{},
        Conv2d{.out = 12, .kernel = 3, .pad = 1, .groups = 4}, AvgPool2d{},
        Conv2d{.out = 12, .kernel = 1, .groups = 12, .bias = false}, Flatten{}, Linear{.out = 10, .bias = false}}},
      {"softmax inside", {Linear{.out = 9}, Softmax{}, Relu{}, Linear{.out = 6}, Softmax{}, Linear{.out = 10}}},
      {"residual blocks",
       {Residual{{Conv2d{.out = 6, .kernel = 3, .pad = 1}, BatchNorm{}, Relu{}, Conv2d{.out = 6, .kernel = 1}},
                 {Conv2d{.out = 6, .kernel = 1}}},
        Residual{{Conv2d{.out = 6, .kernel = 3, .pad = 1}, Relu{}}, {}}, Relu{}, Flatten{},
        Residual{{Linear{.out = 216}}, {}}, Residual{{Relu{}}, {Softmax{}}}, Linear{.out = 10}}},
      {"no weights behind the first", {Linear{.out = 10}, Relu{}, Dropout{.p = 0.3}}},
  };
}

template <class Check>
void compare(const Odd& odd, Precision precision, const ParallelOptions& parallel, const Check& check) {
  PromiseRun run{odd.name, Network(kImage, precision, {.kind = InitKind::he_uniform}), {}, kImage};
  for (const LayerSpec& layer : odd.layers) run.network.add(layer);
  run.options = {.optimizer = Adam{.lr = 1e-2}, .batch = 24, .slots = 4, .l2 = 1e-3, .clip_norm = 0.5, .threads = 1};
  const DataSplits data = promise_data(run);
  const std::string expected = training_hash(run, *data.train, *data.test);
  run.options.parallel = parallel;
  run_ranks(parallel.tensor * parallel.pipeline, [&](Ranks& ranks) {
    const std::string hash = training_hash(run, *data.train, *data.test, &ranks);
    if (ranks.leader()) check(hash, expected);
  });
}

TEST(SplitNetworks, GiveTheBitsOfOneProcess) {
  for (const Odd& odd : odd_networks())
    for (const Precision precision : {Precision::float32, Precision::float64})
      for (const ParallelOptions& parallel :
           {ParallelOptions{.tensor = 2}, ParallelOptions{.tensor = 3}, ParallelOptions{.tensor = 5},
            ParallelOptions{.tensor = 2, .pipeline = 2}, ParallelOptions{.pipeline = 3}})
        compare(odd, precision, parallel, [&](const std::string& hash, const std::string& expected) {
          EXPECT_EQ(hash, expected) << odd.name << ", " << to_string(precision) << ", " << parallel.tensor
                                    << " members, " << parallel.pipeline << " stages";
        });
}

}  // namespace
}  // namespace lockstep
