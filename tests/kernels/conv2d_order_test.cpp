// The documented order of every sum of a convolution, derived a second time: terms are collected with their place in
// the order, sorted by it, and added.
#include <array>
#include <functional>
#include <map>

#include "tests/kernels/conv2d_problem.hpp"

namespace lockstep::test {
namespace {

template <class T>
class Conv2dOrder : public ::testing::Test {};
TYPED_TEST_SUITE(Conv2dOrder, Scalars);

/// One product of the convolution: which weight, which input row, which output row.
struct Tap {
  std::int64_t oc, ic, ky, kx, weight, in, out, oy, ox;
};

std::vector<Tap> all_taps(const Conv2dGeometry& g) {
  std::vector<Tap> taps;
  for (std::int64_t out = 0; out < out_rows(g); ++out)
    for (std::int64_t in = 0; in < in_rows(g); ++in) {
      const std::int64_t ox = out % g.out_width(), oy = out / g.out_width() % g.out_height();
      const std::int64_t oc = out / (g.out_width() * g.out_height());
      const std::int64_t ix = in % g.in_width, iy = in / g.in_width % g.in_height;
      const std::int64_t channel = in / (g.in_width * g.in_height);
      if (channel / g.in_per_group() != oc / g.out_per_group()) continue;
      const std::int64_t ic = channel % g.in_per_group();
      for (std::int64_t ky = 0; ky < g.kernel_h; ++ky)
        for (std::int64_t kx = 0; kx < g.kernel_w; ++kx)
          if (oy * g.stride_h + ky * g.dilation_h == iy + g.pad_h &&
              ox * g.stride_w + kx * g.dilation_w == ix + g.pad_w)
            taps.push_back(
                {oc, ic, ky, kx, ((oc * g.in_per_group() + ic) * g.kernel_h + ky) * g.kernel_w + kx, in, out, oy, ox});
    }
  return taps;
}

using Place = std::array<std::int64_t, 3>;

TYPED_TEST(Conv2dOrder, OutputsAreOneChain) {
  using T = TypeParam;
  for (const NamedGeometry& geometry : kGeometries) {
    const ConvProblem<T> p(geometry.g, 3);
    std::vector<std::map<Place, Tap>> terms(std::size_t(out_rows(p.g)));
    for (const Tap& t : all_taps(p.g)) terms[std::size_t(t.out)][{t.ic, t.ky, t.kx}] = t;
    TestMatrix<T> expected(out_rows(p.g), 3);
    for (std::int64_t out = 0; out < out_rows(p.g); ++out)
      for (std::int64_t s = 0; s < 3; ++s) {
        T sum = p.b[std::size_t(out / (p.g.out_height() * p.g.out_width()))];
        for (const auto& [place, t] : terms[std::size_t(out)])
          sum = std::fma(p.w[std::size_t(t.weight)], p.x(t.in, s), sum);
        expected(out, s) = sum;
      }
    EXPECT_TRUE(identical(p.forward(), expected)) << geometry.name;
  }
}

TYPED_TEST(Conv2dOrder, DataGradientsAreOneChain) {
  using T = TypeParam;
  for (const NamedGeometry& geometry : kGeometries) {
    const ConvProblem<T> p(geometry.g, 3);
    std::vector<std::map<Place, Tap>> terms(std::size_t(in_rows(p.g)));
    for (const Tap& t : all_taps(p.g)) terms[std::size_t(t.in)][{t.oc, t.ky, t.kx}] = t;
    TestMatrix<T> expected(in_rows(p.g), 3);
    for (std::int64_t in = 0; in < in_rows(p.g); ++in)
      for (std::int64_t s = 0; s < 3; ++s) {
        T sum = T(0);
        for (const auto& [place, t] : terms[std::size_t(in)])
          sum = std::fma(p.w[std::size_t(t.weight)], p.dy(t.out, s), sum);
        expected(in, s) = sum;
      }
    EXPECT_TRUE(identical(p.backward_data(), expected)) << geometry.name;
  }
}

/// Lanes over the samples of one slot, each a chain over (block, oy, ox); then ((l + l+8) + 4 + 2 + 1).
template <class T>
T slot_sum(std::int64_t samples, const std::map<std::array<std::int64_t, 2>, Tap>& pixels,
           const std::function<T(const Tap&, std::int64_t, T)>& take) {
  std::array<T, 16> lanes{};
  for (std::int64_t block = 0; block * 16 < samples; ++block)
    for (const auto& [pixel, tap] : pixels)
      for (std::int64_t s = block * 16; s < samples && s < block * 16 + 16; ++s)
        lanes[std::size_t(s % 16)] = take(tap, s, lanes[std::size_t(s % 16)]);
  for (std::size_t step : {8, 4, 2, 1})
    for (std::size_t l = 0; l < step; ++l) lanes[l] += lanes[l + step];
  return lanes[0];
}

TYPED_TEST(Conv2dOrder, WeightGradientIsTheTree) {
  using T = TypeParam;
  for (const NamedGeometry& geometry : kGeometries)
    for (const std::int64_t samples : {1, 15, 16, 17, 37}) {
      const ConvProblem<T> p(geometry.g, samples);
      const Cut cut({samples});
      const auto actual = p.backward_weights(0, samples, cut.slots());
      std::vector<std::map<std::array<std::int64_t, 2>, Tap>> pixels(std::size_t(weight_count(p.g)));
      for (const Tap& t : all_taps(p.g)) pixels[std::size_t(t.weight)][{t.oy, t.ox}] = t;
      std::vector<T> expected;
      for (const auto& terms : pixels)
        expected.push_back(slot_sum<T>(samples, terms, [&](const Tap& t, std::int64_t s, T sum) {
          return std::fma(p.dy(t.out, s), p.x(t.in, s), sum);
        }));
      EXPECT_TRUE(identical(actual.dw, expected)) << geometry.name << ", " << samples << " samples";
    }
}

TYPED_TEST(Conv2dOrder, BiasGradientIsTheLaneTree) {
  using T = TypeParam;
  for (const NamedGeometry& geometry : kGeometries) {
    const ConvProblem<T> p(geometry.g, 37);
    const Cut cut({37});
    const std::int64_t out_pixels = p.g.out_height() * p.g.out_width();
    std::vector<T> expected;
    for (std::int64_t oc = 0; oc < p.g.out_channels; ++oc) {
      std::map<std::array<std::int64_t, 2>, Tap> pixels;
      for (std::int64_t i = 0; i < out_pixels; ++i) pixels[{i, 0}] = {.oc = oc, .out = oc * out_pixels + i};
      expected.push_back(
          slot_sum<T>(37, pixels, [&](const Tap& t, std::int64_t s, T sum) { return sum + p.dy(t.out, s); }));
    }
    EXPECT_TRUE(identical(p.backward_weights(0, 37, cut.slots()).db, expected)) << geometry.name;
  }
}

TYPED_TEST(Conv2dOrder, ChunkIsTheTreeOfSlots) {
  using T = TypeParam;
  for (const auto& sizes : kCuts) {
    const Cut cut(sizes);
    const ConvProblem<T> p(kGeometries[2].g, cut.samples());
    const Slots slots = cut.slots();
    const auto whole = p.backward_weights(0, cut.samples(), slots);
    std::vector<ConvWeightGradient<T>> parts;
    for (std::int64_t k = 0; k < slots.count(); ++k) {
      const Cut one({slots.size(k)});
      parts.push_back(p.backward_weights(slots.begin(k), slots.end(k), one.slots()));
    }
    for (std::size_t i = 0; i < whole.dw.size(); ++i) {
      const auto dw = [&](std::int64_t k) { return parts[std::size_t(k)].dw[i]; };
      EXPECT_TRUE(same_bits(whole.dw[i], slot_tree(dw, 0, slots.count())));
    }
    for (std::size_t i = 0; i < whole.db.size(); ++i) {
      const auto db = [&](std::int64_t k) { return parts[std::size_t(k)].db[i]; };
      EXPECT_TRUE(same_bits(whole.db[i], slot_tree(db, 0, slots.count())));
    }
  }
}

}  // namespace
}  // namespace lockstep::test
