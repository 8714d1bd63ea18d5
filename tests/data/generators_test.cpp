#include "lockstep/data/generators.hpp"

#include <array>
#include <cmath>

#include "lockstep/core/random.hpp"
#include "lockstep/kernels/math/circle.hpp"
#include "tests/data/support.hpp"

namespace lockstep {
namespace {

struct Point {
  double x, y;
};

Point point_of(const Samples& samples, std::int64_t i) {
  return {samples.features.value(2 * i), samples.features.value(2 * i + 1)};
}

TEST(Generators, UnitCircleIsAccurate) {
  double worst = 0;
  for (int i = 0; i < 200000; ++i) {
    const double turn = 2.0 * uniform({.seed = 1, .purpose = Purpose::data}, static_cast<std::uint64_t>(i));
    const long double angle = 3.141592653589793238462643383279502884L * turn;
    const CirclePoint at = unit_circle(turn);
    worst = std::max(worst, static_cast<double>(std::abs(at.cosine - std::cos(angle))));
    worst = std::max(worst, static_cast<double>(std::abs(at.sine - std::sin(angle))));
  }
  EXPECT_LT(worst, 0x1p-51);
  EXPECT_GT(worst, 0) << "nothing was compared";
  EXPECT_EQ(unit_circle(0).cosine, 1);
  EXPECT_EQ(unit_circle(0.5).sine, 1);
  EXPECT_EQ(unit_circle(1).cosine, -1);
  EXPECT_EQ(unit_circle(1.5).sine, -1);
}

TEST(Generators, QuadrantsAreLabelledByTheirSigns) {
  const Samples samples = make_quadrants({.count = 4000});
  std::int64_t ones = 0;
  for (std::int64_t i = 0; i < 4000; ++i) {
    const auto [x, y] = point_of(samples, i);
    ASSERT_TRUE(x >= -1 && x < 1 && y >= -1 && y < 1);
    const std::int32_t label = samples.targets.labels[static_cast<std::size_t>(i)];
    ASSERT_EQ(label, (x >= 0 && y >= 0) || (x < 0 && y < 0) ? 0 : 1);
    ones += label;
  }
  EXPECT_NEAR(static_cast<double>(ones), 2000, 150);
  EXPECT_EQ(samples.targets.classes, 2);
}

TEST(Generators, MoonsAndCirclesLieWhereTheyShould) {
  const Samples moons = make_moons({.count = 2000}), circles = make_circles({.count = 2000, .factor = 0.25});
  for (std::int64_t i = 0; i < 2000; ++i) {
    const auto label = moons.targets.labels[static_cast<std::size_t>(i)];
    ASSERT_EQ(label, i % 2);
    const auto [x, y] = point_of(moons, i);
    const double u = label == 0 ? x : 1 - x, v = label == 0 ? y : 0.5 - y;
    ASSERT_NEAR(u * u + v * v, 1, 1e-14);
    ASSERT_GE(v, -1e-15);
    const auto [a, b] = point_of(circles, i);
    ASSERT_NEAR(std::hypot(a, b), i % 2 == 0 ? 1.0 : 0.25, 1e-14);
  }
}

TEST(Generators, NoiseHasItsDeviation) {
  const Samples clean = make_moons({.count = 20000}), noisy = make_moons({.count = 20000, .noise = 0.3});
  EXPECT_EQ(clean.targets.labels, noisy.targets.labels);
  double squares = 0, sum = 0;
  for (std::int64_t i = 0; i < 40000; ++i) {
    const double difference = noisy.features.value(i) - clean.features.value(i);
    sum += difference;
    squares += difference * difference;
  }
  EXPECT_NEAR(sum / 40000, 0, 5e-3);
  EXPECT_NEAR(std::sqrt(squares / 40000), 0.3, 5e-3);
}

TEST(Generators, BlobsSurroundTheirCentres) {
  const Samples centres = make_blobs({.count = 4, .classes = 4, .features = 3});
  const Samples blobs = make_blobs({.count = 40000, .noise = 0.5, .classes = 4, .features = 3});
  EXPECT_EQ(blobs.shape, (Shape{3}));
  EXPECT_EQ(blobs.targets.classes, 4);
  std::vector<double> sums(12);
  for (std::int64_t i = 0; i < 40000; ++i) {
    for (std::int64_t f = 0; f < 3; ++f)
      sums[static_cast<std::size_t>(i % 4 * 3 + f)] += blobs.features.value(i * 3 + f);
  }
  for (std::size_t k = 0; k < 12; ++k) {
    EXPECT_NEAR(sums[k] / 10000, centres.features.value(static_cast<std::int64_t>(k)), 0.03);
    EXPECT_LE(std::abs(centres.features.value(static_cast<std::int64_t>(k))), 10);
  }
}

TEST(Generators, AddingMarksTwoNumbers) {
  const Samples adding = make_adding({.first = 5, .count = 400, .steps = 9});
  EXPECT_EQ(adding.shape, (Shape{2, 9}));
  EXPECT_EQ(adding.targets.target_size(), 1);
  for (std::int64_t i = 0; i < 400; ++i) {
    double sum = 0;
    int first = 0, second = 0;
    for (std::int64_t t = 0; t < 9; ++t) {
      const double number = adding.features.value((2 * i + 0) * 9 + t),
                   mark = adding.features.value((2 * i + 1) * 9 + t);
      EXPECT_TRUE(number >= 0 && number < 1 && (mark == 0 || mark == 1));
      sum += mark * number;
      (t < 4 ? first : second) += int(mark);
    }
    EXPECT_EQ(first, 1);
    EXPECT_EQ(second, 1);
    EXPECT_DOUBLE_EQ(sum, adding.targets.values.value(i));
  }
  // A test set is the stretch that follows.
  EXPECT_EQ(make_adding({.first = 6, .count = 1, .steps = 9}).targets.values.value(0), adding.targets.values.value(1));
}

TEST(Generators, CopyRecallsItsSymbols) {
  const Samples copy = make_copy({.first = 3, .count = 200, .classes = 4, .steps = 14});  // four symbols
  EXPECT_EQ(copy.shape, (Shape{14}));
  EXPECT_EQ(copy.targets.step_classes, 6);
  std::array<int, 6> seen{};
  for (std::int64_t i = 0; i < 200; ++i)
    for (std::int64_t t = 0; t < 14; ++t) {
      const double token = copy.features.value(i * 14 + t), answer = copy.targets.values.value(i * 14 + t);
      if (t < 4) ++seen[static_cast<std::size_t>(token)];
      EXPECT_EQ(token, t < 4 ? token : t == 9 ? 1 : 0);
      EXPECT_EQ(answer, t < 10 ? 0 : copy.features.value(i * 14 + t - 10));
    }
  for (std::size_t k = 0; k < 6; ++k) EXPECT_EQ(seen[k] > 150, k >= 2) << k;  // of 200 expected
  EXPECT_EQ(make_copy({.first = 4, .count = 1, .classes = 4, .steps = 14}).features.value(0), copy.features.value(14));
}

TEST(Generators, SampleIsAFunctionOfSeedAndIndex) {
  const Samples all = make_circles({.count = 100, .seed = 5, .noise = 0.1});
  const Samples tail = make_circles({.first = 40, .count = 60, .seed = 5, .noise = 0.1});
  EXPECT_TRUE(std::equal(tail.features.bytes.begin(), tail.features.bytes.end(), all.features.bytes.begin() + 40 * 16));
  EXPECT_NE(make_circles({.count = 100, .seed = 6, .noise = 0.1}).features.bytes, all.features.bytes);
}

/// The bits may never change: trained weights depend on them.
TEST(Generators, GoldenValues) {
  const GeneratorConfig config{.first = 1000, .count = 2, .seed = 42, .noise = 0.1};
  const auto expect = [](const Samples& samples, const std::vector<double>& golden) {
    ASSERT_EQ(samples.features.elements(), static_cast<std::int64_t>(golden.size()));
    for (std::size_t i = 0; i < golden.size(); ++i) {
      EXPECT_EQ(samples.features.value(static_cast<std::int64_t>(i)), golden[i])
          << std::hexfloat << samples.features.value(static_cast<std::int64_t>(i));
    }
  };
  expect(make_quadrants(config),
         {0x1.4192db618a5f2p-1, -0x1.62cf9564073p-1, 0x1.0fc167cd221cp-3, -0x1.13b6dac4cd4a6p-2});
  expect(make_moons(config),
         {-0x1.5046aa2df5304p+0, 0x1.85e4bc1d90167p-5, 0x1.317ebd8176191p+0, -0x1.3cc887435eeb5p-1});
  expect(make_circles(config),
         {0x1.5607bd73800f8p-1, -0x1.ac25171125d7cp-3, -0x1.c95be835f9a49p-2, -0x1.320ff006bc5cap-2});
  expect(make_blobs(config), {0x1.eb5ee46bf9bdcp+2, 0x1.197c2c1ba40dcp-2, 0x1.3d980ffee8019p+2, 0x1.31e9402fff9f6p+3});
}

}  // namespace
}  // namespace lockstep
