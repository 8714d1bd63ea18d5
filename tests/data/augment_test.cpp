#include "lockstep/data/augment.hpp"

#include <cmath>
#include <numeric>
#include <set>

#include "lockstep/core/aligned.hpp"
#include "lockstep/data/memory_dataset.hpp"
#include "tests/data/support.hpp"

namespace lockstep {
namespace {

constexpr std::int64_t kSamples = 40, kSide = 6;

/// Pictures [1,6,6] whose pixels are all different.
std::shared_ptr<const Dataset> pictures() {
  std::vector<double> values(kSamples * kSide * kSide);
  std::iota(values.begin(), values.end(), 1.0);
  return std::make_shared<MemoryDataset>(array_from<double>({kSamples, kSide, kSide}, values), Shape{1, kSide, kSide},
                                         Targets{});
}

std::vector<double> augmented(const AugmentConfig& config, std::int64_t epoch, const std::vector<std::int64_t>& ids,
                              std::uint64_t seed = 1) {
  const AugmentedDataset data(pictures(), config, {.scaling = Scaling(), .white = 255}, seed);
  return gathered<double>(*data.for_epoch(epoch), ids);
}

/// One sample of it.
std::vector<double> one(const AugmentConfig& config, std::int64_t epoch, std::int64_t id) {
  return augmented(config, epoch, {id});
}

TEST(Augment, DependsOnSeedEpochAndSampleOnly) {
  const AugmentConfig config{.flip = true, .shift = 2, .rotate = 30, .brightness = 0.2, .contrast = 0.3, .cutout = 2};
  const std::vector<std::int64_t> ids = ids_from(0, kSamples);
  const std::vector<double> all = augmented(config, 3, ids);
  for (std::int64_t id = 0; id < kSamples; ++id) {
    const std::vector<double> alone = one(config, 3, id);
    for (std::int64_t f = 0; f < kSide * kSide; ++f)
      ASSERT_EQ(alone[static_cast<std::size_t>(f)], all[static_cast<std::size_t>(id * kSide * kSide + f)]);
  }
  EXPECT_NE(augmented(config, 4, ids), all);
  EXPECT_NE(augmented(config, 3, ids, 2), all);
  const AugmentedDataset data(pictures(), config, {}, 1);
  EXPECT_EQ(gathered<double>(data, ids), gathered<double>(*pictures(), ids)) << "outside training nothing changes";
}

TEST(Augment, FlipsHalfOfThePictures) {
  int flipped = 0;
  for (std::int64_t id = 0; id < kSamples; ++id) {
    const std::vector<double> now = one({.flip = true}, 0, id), before = one({}, 0, id);
    if (now == before) continue;
    ++flipped;
    for (std::size_t y = 0; y < kSide; ++y)
      for (std::size_t x = 0; x < kSide; ++x) ASSERT_EQ(now[y * kSide + x], before[y * kSide + kSide - 1 - x]);
  }
  EXPECT_GT(flipped, kSamples / 4);
  EXPECT_LT(flipped, kSamples * 3 / 4);
}

TEST(Augment, ShiftsWithBlackAtTheEdges) {
  std::set<std::pair<int, int>> seen;
  for (std::int64_t id = 0; id < kSamples; ++id) {
    const std::vector<double> now = one({.shift = 1}, 0, id), before = one({}, 0, id);
    int found = 0;
    for (int down = -1; down <= 1; ++down)
      for (int right = -1; right <= 1; ++right) {
        bool same = true;
        for (int y = 0; y < kSide; ++y)
          for (int x = 0; x < kSide; ++x) {
            const int sy = y - down, sx = x - right;
            const bool inside = sy >= 0 && sy < kSide && sx >= 0 && sx < kSide;
            const double expected = inside ? before[static_cast<std::size_t>(sy * kSide + sx)] : 0;
            same = same && now[static_cast<std::size_t>(y * kSide + x)] == expected;
          }
        if (same) seen.insert({down, right}), ++found;
      }
    ASSERT_EQ(found, 1);
  }
  EXPECT_EQ(seen.size(), 9u) << "every direction occurs";
}

TEST(Augment, RotatesAboutTheMiddle) {
  double largest = 0;
  for (std::int64_t id = 0; id < kSamples; ++id) {
    const std::vector<double> now = one({.rotate = 20}, 0, id), before = one({}, 0, id);
    // A rotation about the middle keeps the mean of the four pixels around it, for a picture that is a plane.
    const auto middle = [](const std::vector<double>& p) { return p[14] + p[15] + p[20] + p[21]; };
    EXPECT_NEAR(middle(now), middle(before), 1e-6);
    largest = std::max(largest, std::abs(now[14] - before[14]));
  }
  EXPECT_GT(largest, 0.1);
}

TEST(Augment, CutsASquareOut) {
  for (std::int64_t id = 0; id < kSamples; ++id) {
    const std::vector<double> now = one({.cutout = 3}, 0, id);
    const auto black = std::count(now.begin(), now.end(), 0.0);
    EXPECT_GE(black, 4);
    EXPECT_LE(black, 9);
  }
}

TEST(Augment, ChangesBrightnessAndContrast) {
  for (std::int64_t id = 0; id < kSamples; ++id) {
    const std::vector<double> before = one({}, 0, id), bright = one({.brightness = 0.5}, 0, id);
    EXPECT_NEAR(bright[0] - before[0], bright[35] - before[35], 1e-9);
    EXPECT_LE(std::abs(bright[0] - before[0]), 127.5);
    const std::vector<double> strong = one({.contrast = 0.5}, 0, id);
    const double ratio = (strong[35] - strong[0]) / (before[35] - before[0]);
    EXPECT_GE(ratio, 0.5);
    EXPECT_LE(ratio, 1.5);
    EXPECT_NEAR(strong[0] + strong[35], before[0] + before[35], 1e-9) << "about the mean";
  }
}

TEST(Augment, KeepsLabelsAndWeights) {
  const std::vector<double> values(2 * kSide * kSide, 1.0);
  const auto base =
      std::make_shared<MemoryDataset>(array_from<double>({2, kSide, kSide}, values), Shape{1, kSide, kSide},
                                      Targets{.labels = {1, 0}, .classes = 2, .weights = {0.5, 2}});
  const AugmentedDataset data(base, {.flip = true}, {}, 1);
  const std::shared_ptr<const Dataset> epoch = data.for_epoch(0);
  ASSERT_TRUE(epoch->has_weights());
  std::vector<double> weights(2);
  epoch->weights(ids_from(0, 2), weights);
  EXPECT_EQ(weights, (std::vector<double>{0.5, 2}));
  EXPECT_EQ(all_labels(*epoch), (std::vector<std::int32_t>{1, 0}));
}

TEST(Augment, RefusesPlainLists) {
  const auto list =
      std::make_shared<MemoryDataset>(array_from<double>({1, 2}, std::vector<double>{1, 2}), Shape{2}, Targets{});
  expect_error(ErrorCode::usage, "data.augment: samples [2] are no images",
               [&] { AugmentedDataset(list, {.flip = true}, {}, 1); });
}

/// Sample s is s everywhere, of class s mod 3.
std::shared_ptr<const Dataset> numbers(std::int64_t samples) {
  std::vector<float> x;
  std::vector<int> y;
  for (std::int64_t s = 0; s < samples; ++s) {
    x.insert(x.end(), 2, static_cast<float>(s));
    y.push_back(static_cast<int>(s % 3));
  }
  return std::make_shared<MemoryDataset>(x, Shape{2}, y);
}

TEST(Mixup, MixesInputsAndTargetsAlike) {
  constexpr std::int64_t kMany = 300;
  const AugmentedDataset data(numbers(kMany), {.mixup = 0.4}, {}, 7);
  EXPECT_FALSE(data.has_soft_targets());
  const auto epoch = data.for_epoch(2);
  EXPECT_TRUE(epoch->has_soft_targets());
  const std::vector<std::int64_t> ids = ids_from(0, kMany);
  const std::vector<double> x = gathered<double>(*epoch, ids);
  AlignedBuffer<double> t(3 * kMany);
  epoch->targets(ids, dense_matrix(t.data(), 3, kMany));
  double sum = 0;
  for (std::int64_t s = 0; s < kMany; ++s) {
    const RandomKey key{.seed = 7, .purpose = Purpose::augment, .epoch = 2, .sample = static_cast<std::uint64_t>(s)};
    const Mixture mixture = draw_mixture(0.4, kMany, key);
    ASSERT_GE(mixture.share, 0.5);
    ASSERT_LE(mixture.share, 1);
    ASSERT_GE(mixture.partner, 0);
    ASSERT_LT(mixture.partner, kMany);
    const double rest = 1 - mixture.share;
    ASSERT_EQ(x[static_cast<std::size_t>(2 * s)], mixture.share * double(s) + rest * double(mixture.partner));
    for (std::int64_t k = 0; k < 3; ++k)
      ASSERT_EQ(t.data()[k * kMany + s],
                mixture.share * (s % 3 == k ? 1 : 0) + rest * (mixture.partner % 3 == k ? 1 : 0));
    sum += mixture.share;
  }
  EXPECT_NEAR(sum / kMany, 0.83, 0.03) << "the mean of max(b, 1 - b) for b of Beta(0.4, 0.4)";
}

TEST(Mixup, DependsOnSeedEpochAndSampleOnly) {
  const AugmentedDataset data(numbers(30), {.mixup = 1}, {}, 7);
  const std::vector<std::int64_t> ids = ids_from(0, 30);
  const std::vector<double> all = gathered<double>(*data.for_epoch(0), ids);
  for (std::int64_t s = 0; s < 30; ++s)
    ASSERT_EQ(gathered<double>(*data.for_epoch(0), std::vector{s})[0], all[static_cast<std::size_t>(2 * s)]);
  EXPECT_NE(gathered<double>(*data.for_epoch(1), ids), all);
  EXPECT_EQ(gathered<double>(data, ids), gathered<double>(*numbers(30), ids)) << "outside training nothing changes";
}

TEST(Mixup, GoesWithPictureChangesAndRealTargets) {
  const std::vector<float> x(kSamples * kSide * kSide, 1), targets = [] {
    std::vector<float> t;
    for (int s = 0; s < kSamples; ++s) t.push_back(static_cast<float>(s));
    return t;
  }();
  const auto base = std::make_shared<MemoryDataset>(x, Shape{1, kSide, kSide}, targets);
  const auto epoch = AugmentedDataset(base, {.shift = 2, .mixup = 0.5}, {}, 1).for_epoch(0);
  EXPECT_FALSE(epoch->has_soft_targets()) << "they are numbers anyway";
  AlignedBuffer<double> t(1);
  const std::vector<std::int64_t> id{5};
  epoch->targets(id, dense_matrix(t.data(), 1, 1));
  const Mixture mixture =
      draw_mixture(0.5, kSamples, {.seed = 1, .purpose = Purpose::augment, .epoch = 0, .sample = 5});
  EXPECT_EQ(t.data()[0], mixture.share * 5 + (1 - mixture.share) * double(mixture.partner));
  EXPECT_NE(gathered<double>(*epoch, id), gathered<double>(*base, id));
}

TEST(Mixup, NeedsTargets) {
  const auto bare = std::make_shared<MemoryDataset>(std::vector<float>(4), Shape{2}, std::span<const float>());
  expect_error(ErrorCode::usage, "mixup mixes targets, and these samples have none",
               [&] { AugmentedDataset(bare, {.mixup = 0.2}, {}, 1); });
}

}  // namespace
}  // namespace lockstep
