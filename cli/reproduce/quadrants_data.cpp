#include "cli/reproduce/quadrants_data.hpp"

#include <algorithm>
#include <random>

#include "lockstep/data/memory_dataset.hpp"

namespace lockstep::cli {

namespace {

constexpr float kRandMax = 2147483647.0F;
constexpr float kWeightScale = 0.01F;

float coordinate(GlibcRand& random) { return (static_cast<float>(random()) / kRandMax - 0.5F) * 2; }

std::shared_ptr<const Dataset> points(GlibcRand& random, std::int64_t count) {
  std::vector<float> values;
  Targets targets{.classes = 2};
  for (std::int64_t i = 0; i < count; ++i) {
    const float x = coordinate(random), y = coordinate(random);
    values.insert(values.end(), {x, y});
    targets.labels.push_back((x >= 0) == (y >= 0) ? 0 : 1);
  }
  return std::make_shared<MemoryDataset>(array_from<float>({count, 2}, values), Shape{2}, std::move(targets));
}

}  // namespace

GlibcRand::GlibcRand() {
  // A Lehmer generator fills the ring; its first 310 sums are thrown away.
  std::int64_t seed = 1;
  for (std::uint32_t& each : last_) {
    each = static_cast<std::uint32_t>(seed);
    seed = seed * 16807 % 2147483647;
  }
  for (int i = 0; i < 310; ++i) static_cast<void>((*this)());
}

std::int32_t GlibcRand::operator()() {
  // x[i] = x[i-31] + x[i-3]; the lowest bit is not given out.
  std::uint32_t& sum = last_[static_cast<std::size_t>(next_)];
  sum += last_[static_cast<std::size_t>((next_ + kLong - kShort) % kLong)];
  next_ = (next_ + 1) % kLong;
  return static_cast<std::int32_t>(sum >> 1);
}

QuadrantData published_quadrants(std::int64_t batches, std::int64_t batch) {
  GlibcRand random;
  auto train = points(random, (batches - 1) * batch);
  return {std::move(train), points(random, batch)};
}

Network published_quadrant_network() {
  Network network({2});
  network.add(Linear{.out = 20}).add(Relu{}).add(Linear{.out = 1}).add(Sigmoid{});
  float* const values = network.data<float>();
  for (const ParameterInfo& info : network.parameters()) {
    std::fill_n(values + info.offset, info.elements(), 0.0F);
    if (info.role != Role::weight) continue;
    std::default_random_engine engine;
    std::normal_distribution<float> normal(0.0F, 1.0F);
    for (std::int64_t i = 0; i < info.elements(); ++i) values[info.offset + i] = normal(engine) * kWeightScale;
  }
  return network;
}

QuadrantSeries train_published_quadrants(const QuadrantData& data, Backend backend, std::int64_t epochs) {
  QuadrantSeries series{.network = published_quadrant_network()};
  Trainer trainer(series.network, quadrant_options(backend, 1));
  trainer.fit(*data.train,
              {.epochs = epochs, .validation = data.test.get(), .on_epoch = [&](const EpochReport& report) {
                 series.loss.push_back(report.validation->loss);
                 series.accuracy.push_back(report.validation->accuracy().value_or(0));
                 series.hash = report.weight_hash;
               }});
  return series;
}

TrainOptions quadrant_options(Backend backend, int threads) {
  return {.loss = Loss::binary_cross_entropy,
          .optimizer = Sgd{.lr = 0.1},
          .batch = kQuadrantBatch,
          .shuffle = false,
          .backend = backend,
          .threads = threads};
}

}  // namespace lockstep::cli
