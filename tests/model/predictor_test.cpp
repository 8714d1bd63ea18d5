// Inference by several members, for any number of samples, against naive on one thread: bit by bit.
#include "lockstep/model/predictor.hpp"

#include <gtest/gtest.h>

#include "lockstep/core/error.hpp"
#include "lockstep/data/memory_dataset.hpp"
#include "lockstep/nn/layer.hpp"
#include "lockstep/parallel/team.hpp"
#include "lockstep/train/trainer.hpp"
#include "tests/kernels/support.hpp"
#include "tests/model/allocations.hpp"
#include "tests/support/example_networks.hpp"

namespace lockstep::test {
namespace {

template <class T>
std::vector<T> outputs(const Network& network, Predictor& predictor, const std::vector<T>& x) {
  const auto samples = static_cast<std::int64_t>(x.size()) / network.input().elements();
  std::vector<T> y(static_cast<std::size_t>(samples * network.output().elements()), kNan<T>);
  predictor.run(std::span(x), std::span(y));
  return y;
}

/// Wide enough for several members and vectors, with layers that mix channels, keep them apart, and change their number
/// behind a flatten; large enough that members share them.
Network wide_network(Precision precision) {
  Network net({3, 12, 18}, precision);
  net.add(Conv2d{.out = 40, .kernel = 3, .pad = 1}).add(BatchNorm{}).add(Relu{}).add(MaxPool2d{.window = 2});
  net.add(Conv2d{.out = 36, .kernel = 3, .pad = 1, .groups = 4}).add(Tanh{});
  net.add(Residual{.body = {Conv2d{.out = 36, .kernel = 3, .pad = 1}, BatchNorm{}, Relu{}, Dropout{.p = 0.5},
                            Conv2d{.out = 36, .kernel = 1}},
                   .shortcut = {Conv2d{.out = 36, .kernel = 1, .groups = 9}}});
  net.add(Conv2d{.out = 64, .kernel = {3, 1}, .stride = {2, 1}, .groups = 2}).add(AvgPool2d{.window = 2});
  net.add(Flatten{}).add(Sigmoid{}).add(BatchNorm{}).add(Linear{.out = 150}).add(Gelu{});
  net.add(Linear{.out = 33, .bias = false}).add(Softmax{}).add(Linear{.out = 200}).add(Softmax{});
  stir(net);
  return net;
}

std::vector<ExampleNetwork> networks(Precision precision) {
  std::vector<ExampleNetwork> all = example_networks(precision);
  all.push_back({"wide", wide_network(precision)});
  return all;
}

template <class T>
class Predicting : public ::testing::Test {
 protected:
  static constexpr Precision kPrecision = sizeof(T) == 4 ? Precision::float32 : Precision::float64;
};
TYPED_TEST_SUITE(Predicting, Scalars);

TYPED_TEST(Predicting, SameForAnyThreads) {
  using T = TypeParam;
  for (const ExampleNetwork& example : networks(this->kPrecision)) {
    const std::int64_t inputs = example.network.input().elements();
    const auto outputs_each = static_cast<std::size_t>(example.network.output().elements());
    const std::vector<T> x = random_vector<T>(130 * inputs, 5);
    Predictor naive(example.network, {.backend = Backend::naive, .threads = 1});
    const std::vector<T> expected = outputs(example.network, naive, x);
    for (const Backend backend : {Backend::simd, Backend::naive})
      for (const int threads : {1, 2, 3, 7}) {
        if (backend == Backend::naive && threads != 3) continue;
        Predictor predictor(example.network, {.backend = backend, .threads = threads});
        for (const std::int64_t samples : {1, 2, 3, 4, 5, 9, 16, 31, 33, 64, 65, 130, 1}) {
          SCOPED_TRACE(::testing::Message()
                       << example.name << ", " << threads << " threads, " << samples << " samples");
          const std::vector<T> some(x.begin(), x.begin() + samples * inputs);
          const std::vector<T> y = outputs(example.network, predictor, some);
          EXPECT_TRUE(identical(y, std::vector<T>(expected.begin(), expected.begin() + std::ptrdiff_t(y.size()))));
          ASSERT_EQ(y.size(), static_cast<std::size_t>(samples) * outputs_each);
        }
      }
  }
}

/// A sample alone has the outputs that it has among others.
TYPED_TEST(Predicting, IgnoresNeighbours) {
  using T = TypeParam;
  const Network network = wide_network(this->kPrecision);
  const auto inputs = std::size_t(network.input().elements()), each = std::size_t(network.output().elements());
  const std::vector<T> x = random_vector<T>(std::int64_t(20 * inputs), 6);
  Predictor predictor(network, {.threads = 2});
  const std::vector<T> all = outputs(network, predictor, x);
  for (const std::size_t s : {0, 7, 19}) {
    const std::vector<T> one(x.begin() + std::ptrdiff_t(s * inputs), x.begin() + std::ptrdiff_t((s + 1) * inputs));
    EXPECT_TRUE(identical(
        outputs(network, predictor, one),
        std::vector<T>(all.begin() + std::ptrdiff_t(s * each), all.begin() + std::ptrdiff_t((s + 1) * each))));
  }
}

/// How often `call` asks for memory, ten times over.
template <class Call>
std::int64_t allocations_of(const Call& call) {
  call();  // the first one may
  const std::int64_t before = allocations;
  for (int i = 0; i < 10; ++i) call();
  return allocations - before;
}

TEST(Predictor, LaterCallsAllocateNothing) {
  const Network network = wide_network(Precision::float32);
  const std::vector<float> x = random_vector<float>(40 * network.input().elements(), 8);
  std::vector<float> y(std::size_t(40 * network.output().elements()));
  for (const int threads : {1, 2}) {
    Team team(threads);  // nothing with OpenMP; without it every run makes its threads
    const std::int64_t by_team = allocations_of([&] { team.run([](const Member&) {}); });
    Predictor predictor(network, {.threads = threads});
    for (const std::int64_t samples : {1, 40}) {
      const std::span some = std::span(x).first(std::size_t(samples * network.input().elements()));
      const std::span there = std::span(y).first(std::size_t(samples * network.output().elements()));
      EXPECT_LE(allocations_of([&] { predictor.run(some, there); }), by_team)
          << threads << " threads, " << samples << " samples";
    }
  }
}

TEST(Predictor, TakesSamplesOfADataSet) {
  const Network network = wide_network(Precision::float32);
  const auto inputs = std::size_t(network.input().elements());
  const std::vector<float> x = random_vector<float>(std::int64_t(40 * inputs), 7);
  const auto bytes = std::as_bytes(std::span(x));
  const MemoryDataset data({ElementType::float32, {40, std::int64_t(inputs)}, {bytes.begin(), bytes.end()}},
                           network.input(), {});
  const std::vector<std::int64_t> ids = {3, 39, 3, 0};
  Predictor predictor(network, {.threads = 2});
  std::vector<float> chosen;
  for (const std::int64_t id : ids)
    chosen.insert(chosen.end(), x.begin() + id * std::ptrdiff_t(inputs), x.begin() + (id + 1) * std::ptrdiff_t(inputs));
  const std::vector<float> y = outputs(network, predictor, chosen);
  EXPECT_EQ(predictor.run(data, ids), std::vector<double>(y.begin(), y.end()));
  EXPECT_EQ(predict(network, data, ids, Backend::naive), std::vector<double>(y.begin(), y.end()));
}

TEST(Predictor, NamesWhatDoesNotFit) {
  Network network({4});
  network.add(Linear{.out = 3});
  Predictor predictor(network, {.threads = 1});
  const std::vector<float> x(8);
  std::vector<float> y(5);
  try {
    predictor.run(std::span(x), std::span(y));
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    EXPECT_STREQ(error.what(), "predict: 8 inputs and 5 outputs given, but a sample has 4 and 3");
  }
  const std::vector<double> wide(4);
  std::vector<double> out(3);
  EXPECT_THROW(predictor.run(std::span(wide), std::span(out)), Error);
  EXPECT_THROW(Predictor(network, {.threads = -1}), Error);
}

struct LonelyThread final : InferenceGroup {
  using InferenceGroup::InferenceGroup;
  void meet() const override {}
};

TEST(InferenceGroup, SharesCoverTheChannelsOnce) {
  for (const int size : {1, 2, 3, 7, 64})
    for (const std::int64_t channels : {1, 3, 6, 16, 17, 64, 120, 128, 1000}) {
      std::int64_t next = 0, most = 0;
      for (int member = 0; member < size; ++member) {
        const Channels share = LonelyThread(member, size).share(channels);
        EXPECT_EQ(share.first, next);
        next += share.count;
        most = std::max(most, share.count);
      }
      EXPECT_EQ(next, channels);
      EXPECT_LT(most, channels / size + 8) << size << " members, " << channels << " channels";
    }
}

}  // namespace
}  // namespace lockstep::test
