#include "lockstep/nn/init.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "lockstep/nn/network.hpp"

namespace lockstep {
namespace {

constexpr std::int64_t kFanIn = 100, kFanOut = 50, kCount = 20000;

template <class T = double>
std::vector<T> draw(const Init& init, std::uint64_t seed = 1, std::uint32_t parameter = 0, std::size_t count = kCount) {
  std::vector<T> values(count, T(99));
  initialise<T>(init, kFanIn, kFanOut, seed, parameter, values);
  return values;
}

struct Moments {
  double mean = 0, deviation = 0, largest = 0;
};

Moments moments(const std::vector<double>& values) {
  Moments m;
  for (const double v : values) {
    m.mean += v / double(values.size());
    m.largest = std::max(m.largest, std::abs(v));
  }
  for (const double v : values) m.deviation += (v - m.mean) * (v - m.mean) / double(values.size());
  m.deviation = std::sqrt(m.deviation);
  return m;
}

TEST(Init, UniformKindsFillTheirRange) {
  const std::vector<std::pair<Init, double>> kinds = {
      {{.kind = InitKind::uniform, .scale = 0.12}, 0.12},
      {{.kind = InitKind::xavier_uniform}, std::sqrt(6.0 / (kFanIn + kFanOut))},
      {{.kind = InitKind::fan_in_uniform}, 1 / std::sqrt(double(kFanIn))},
      {{.kind = InitKind::he_uniform}, std::sqrt(6.0 / kFanIn)}};
  for (const auto& [init, width] : kinds) {
    const Moments m = moments(draw(init));
    const double deviation = width / std::sqrt(3.0);
    EXPECT_LE(m.largest, width);
    EXPECT_GT(m.largest, 0.999 * width) << "20000 numbers come close to the ends";
    EXPECT_NEAR(m.mean, 0, 4 * deviation / std::sqrt(double(kCount)));
    EXPECT_NEAR(m.deviation, deviation, 0.02 * deviation);
  }
}

TEST(Init, NormalKindsHaveTheirDeviation) {
  const std::vector<std::pair<Init, double>> kinds = {
      {{.kind = InitKind::normal, .scale = 0.01}, 0.01},
      {{.kind = InitKind::xavier_normal}, std::sqrt(2.0 / (kFanIn + kFanOut))},
      {{.kind = InitKind::he_normal}, std::sqrt(2.0 / kFanIn)}};
  for (const auto& [init, deviation] : kinds) {
    const Moments m = moments(draw(init));
    EXPECT_NEAR(m.mean, 0, 4 * deviation / std::sqrt(double(kCount)));
    EXPECT_NEAR(m.deviation, deviation, 0.02 * deviation);
    EXPECT_GT(m.largest, 3 * deviation) << "a normal distribution has tails";
  }
}

TEST(Init, Constants) {
  EXPECT_EQ(draw({.kind = InitKind::zeros}, 1, 0, 3), (std::vector<double>{0, 0, 0}));
  EXPECT_EQ(draw({.kind = InitKind::constant, .scale = 0.5}, 1, 0, 2), (std::vector<double>{0.5, 0.5}));
}

TEST(Init, ElementsDependOnSeedParameterAndPlaceOnly) {
  const Init init{.kind = InitKind::he_normal};
  const auto all = draw(init);
  EXPECT_EQ(draw(init), all);
  EXPECT_NE(draw(init, 2), all);
  EXPECT_NE(draw(init, 1, 1), all);
  const auto few = draw(init, 1, 0, 10);
  EXPECT_TRUE(std::equal(few.begin(), few.end(), all.begin())) << "the number of elements does not matter";
}

TEST(Init, FloatIsTheRoundedDouble) {
  for (int kind = 0; kind <= static_cast<int>(InitKind::constant); ++kind) {
    const Init init{.kind = static_cast<InitKind>(kind), .scale = 0.1};
    const auto exact = draw<double>(init, 3, 4, 500);
    const auto rounded = draw<float>(init, 3, 4, 500);
    for (std::size_t i = 0; i < exact.size(); ++i) EXPECT_EQ(rounded[i], static_cast<float>(exact[i])) << kind;
  }
}

TEST(Init, NamesFollowTheEnum) {
  ASSERT_EQ(names_of<InitKind>().size(), static_cast<std::size_t>(InitKind::sinusoidal) + 1);
  EXPECT_EQ(names_of<InitKind>()[static_cast<std::size_t>(InitKind::xavier_uniform)], "xavier-uniform");
  EXPECT_EQ(names_of<InitKind>()[static_cast<std::size_t>(InitKind::fan_in_uniform)], "fan-in-uniform");
  EXPECT_EQ(names_of<InitKind>()[static_cast<std::size_t>(InitKind::constant)], "constant");
}

TEST(Init, DrawsWeightsZeroesBiasesKeepsBatchNorm) {
  Network net({1, 8, 8}, Precision::float64, {.kind = InitKind::fan_in_uniform});
  net.add(Conv2d{.out = 4, .kernel = 3}).add(BatchNorm{}).add(Flatten{}).add(Linear{.out = 30});
  for (const ParameterInfo& info : net.parameters()) {
    const double* values = net.data<double>() + info.offset;
    const auto [least, most] = std::minmax_element(values, values + info.elements());
    if (info.role == Role::weight) {
      EXPECT_LE(std::max(-*least, *most), 1 / std::sqrt(double(info.fan_in))) << info.name;
      EXPECT_GT(*most - *least, 0.5 / std::sqrt(double(info.fan_in))) << info.name;
    } else {
      const double expected = info.role == Role::scale || info.role == Role::running_var ? 1 : 0;
      EXPECT_EQ(*least, expected) << info.name;
      EXPECT_EQ(*most, expected) << info.name;
    }
  }
  EXPECT_EQ(net.parameters()[0].fan_in, 9);
  EXPECT_EQ(net.parameters()[0].fan_out, 36);
}

TEST(Init, BiasesAndSingleLayersMayDiffer) {
  Network net({4}, Precision::float64, {.kind = InitKind::uniform, .scale = 0.12, .biases = true});
  net.add(Linear{.out = 50}).add(Linear{.out = 2, .init = Init{.kind = InitKind::constant, .scale = 7}});
  const double* bias = net.data<double>() + net.parameters()[1].offset;
  EXPECT_TRUE(std::any_of(bias, bias + 50, [](double v) { return v != 0; }));
  EXPECT_TRUE(std::all_of(bias, bias + 50, [](double v) { return std::abs(v) <= 0.12; }));
  EXPECT_EQ(net.data<double>()[net.parameters()[2].offset], 7);
  EXPECT_EQ(net.data<double>()[net.parameters()[3].offset], 0);
}

}  // namespace
}  // namespace lockstep
