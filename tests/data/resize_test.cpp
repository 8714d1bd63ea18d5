#include "lockstep/data/resize.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/data/support.hpp"

namespace lockstep {
namespace {

Samples images(std::vector<std::int64_t> dims, Shape shape) {
  Samples samples{make_array(ElementType::uint8, std::move(dims)), shape, {}};
  auto pixels = samples.features.as<std::uint8_t>();
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<std::uint8_t>((i * i * 31 + i) % 251);
  return samples;
}

TEST(Resize, AverageOfWholeRatiosIsPooling) {
  const Samples in = images({2, 3, 4, 4}, {3, 4, 4});
  const Samples out = resize_images(in, 2, ResizeMethod::average);
  EXPECT_EQ(out.features.describe(), "float64 [2,3,2,2]");
  EXPECT_EQ(out.shape, (Shape{3, 2, 2}));
  for (std::int64_t plane = 0; plane < 6; ++plane) {
    for (std::int64_t y = 0; y < 2; ++y) {
      for (std::int64_t x = 0; x < 2; ++x) {
        const std::int64_t at = plane * 16 + 2 * y * 4 + 2 * x;
        const double sum =
            in.features.value(at) + in.features.value(at + 1) + in.features.value(at + 4) + in.features.value(at + 5);
        EXPECT_EQ(out.features.value(plane * 4 + y * 2 + x), sum / 4);
      }
    }
  }
}

TEST(Resize, AverageWeighsByArea) {
  const auto taps = resize_taps(28, 20, ResizeMethod::average);  // each output covers 1.4 inputs
  ASSERT_EQ(taps.size(), 20u);
  EXPECT_EQ(taps[0].index, (std::vector<std::int64_t>{0, 1}));
  EXPECT_EQ(taps[0].weight, (std::vector<double>{20.0 / 28, 8.0 / 28}));
  EXPECT_EQ(taps[1].index, (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(taps[1].weight, (std::vector<double>{12.0 / 28, 16.0 / 28}));
  std::vector<double> coverage(28);
  for (const ResizeTaps& t : taps) {
    for (std::size_t i = 0; i < t.index.size(); ++i) coverage[static_cast<std::size_t>(t.index[i])] += t.weight[i];
  }
  for (const double c : coverage) EXPECT_NEAR(c, 20.0 / 28, 1e-15);
}

TEST(Resize, EveryMethodKeepsAConstantAndTheSameSize) {
  for (const ResizeMethod method : {ResizeMethod::average, ResizeMethod::bicubic}) {
    for (const std::int64_t in : {1, 5, 28}) {
      for (const std::int64_t out : {1, 5, 20, 33}) {
        for (const ResizeTaps& taps : resize_taps(in, out, method)) {
          EXPECT_NEAR(std::accumulate(taps.weight.begin(), taps.weight.end(), 0.0), 1, 1e-14);
          EXPECT_GE(*std::min_element(taps.index.begin(), taps.index.end()), 0);
          EXPECT_LT(*std::max_element(taps.index.begin(), taps.index.end()), in);
        }
      }
    }
    const Samples in = images({3, 7, 7}, {1, 7, 7});
    const Samples same = resize_images(in, 7, method);
    for (std::int64_t i = 0; i < in.features.elements(); ++i) EXPECT_EQ(same.features.value(i), in.features.value(i));
  }
}

/// A cubic kernel reproduces a straight line away from the edges, also when it is stretched by a whole ratio.
TEST(Resize, BicubicKeepsALine) {
  const auto taps = resize_taps(40, 20, ResizeMethod::bicubic);
  for (std::size_t i = 4; i < 16; ++i) {
    double value = 0;
    for (std::size_t t = 0; t < taps[i].index.size(); ++t)
      value += taps[i].weight[t] * static_cast<double>(taps[i].index[t]);
    EXPECT_NEAR(value, 2.0 * static_cast<double>(i) + 0.5, 1e-12);
  }
}

TEST(Resize, TransposesImages) {
  const Samples in = images({2, 2, 3, 5}, {2, 3, 5});
  const Samples out = transpose_images(in);
  EXPECT_EQ(out.features.describe(), "uint8 [2,2,5,3]");
  EXPECT_EQ(out.shape, (Shape{2, 5, 3}));
  for (std::int64_t plane = 0; plane < 4; ++plane) {
    for (std::int64_t y = 0; y < 3; ++y) {
      for (std::int64_t x = 0; x < 5; ++x) {
        EXPECT_EQ(out.features.value(plane * 15 + x * 3 + y), in.features.value(plane * 15 + y * 5 + x));
      }
    }
  }
}

TEST(Resize, RefusesMisuse) {
  EXPECT_EQ(parse_resize_method("average"), ResizeMethod::average);
  EXPECT_EQ(parse_resize_method("bicubic"), ResizeMethod::bicubic);
  expect_error(ErrorCode::usage, "resize: unknown method \"linear\"", [] { parse_resize_method("linear"); });
  const Samples flat = images({2, 9}, {9});
  expect_error(ErrorCode::usage, "resize: samples [9] are no images [channels,height,width], give data.shape",
               [&] { resize_images(flat, 2, ResizeMethod::average); });
  expect_error(ErrorCode::usage, "transpose: samples [9] are no images", [&] { transpose_images(flat); });
  const Samples good = images({2, 3, 3}, {1, 3, 3});
  expect_error(ErrorCode::usage, "resize: size 0 is outside 1..16384",
               [&] { resize_images(good, 0, ResizeMethod::average); });
}

}  // namespace
}  // namespace lockstep
