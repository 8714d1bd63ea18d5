#include "lockstep/data/augment.hpp"

#include <cmath>
#include <numeric>
#include <set>

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
  const AugmentConfig config{
      .flip = true, .shift = 2, .rotate = 30, .brightness = 0.2, .contrast = 0.3, .cutout = 2};
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

TEST(Augment, RefusesPlainLists) {
  const auto list = std::make_shared<MemoryDataset>(array_from<double>({1, 2}, std::vector<double>{1, 2}), Shape{2},
                                                    Targets{});
  expect_error(ExitCode::usage, "data.augment: samples [2] are no images",
               [&] { AugmentedDataset(list, {.flip = true}, {}, 1); });
}

}  // namespace
}  // namespace lockstep
