#include "cli/exercise/exercises/list.hpp"
#include "cli/exercise/exercises/rows.hpp"
#include "cli/exercise/fields.hpp"
#include "lockstep/kernels/naive/table.hpp"
#include "lockstep/kernels/simd/table.hpp"

namespace lockstep::cli {

namespace max_pool_parts {

using Index = std::int64_t;

struct PoolArgs {
  Index channels, in_height, in_width, window, stride, samples;
  const float* x;
  float* y;

  Index out_height() const { return (in_height - window) / stride + 1; }
  Index out_width() const { return (in_width - window) / stride + 1; }
};

Pool2dGeometry geometry(const PoolArgs& a, Index channels) {
  return {.channels = channels,
          .in_height = a.in_height,
          .in_width = a.in_width,
          .window_h = a.window,
          .window_w = a.window,
          .stride_h = a.stride,
          .stride_w = a.stride};
}

void run(const KernelTable<float>& table, const PoolArgs& a, Index first, Index count, KernelContext& context) {
  const Index in = a.in_height * a.in_width, out = a.out_height() * a.out_width();
  table.max_pool2d_forward({geometry(a, count), dense_matrix(a.x + first * in * a.samples, count * in, a.samples),
                            dense_matrix(a.y + first * out * a.samples, count * out, a.samples)},
                           context);
}

/// y = pick(the taps of every window), windows `stride` apart.
template <class Pick>
void windows(const PoolArgs& a, Index stride, const Pick& pick) {
  for (Index c = 0; c < a.channels; ++c)
    for (Index oy = 0; oy < a.out_height(); ++oy)
      for (Index ox = 0; ox < a.out_width(); ++ox)
        for (Index s = 0; s < a.samples; ++s) {
          std::vector<float> taps;
          for (Index ky = 0; ky < a.window; ++ky)
            for (Index kx = 0; kx < a.window; ++kx)
              taps.push_back(
                  a.x[((c * a.in_height + oy * stride + ky) * a.in_width + ox * stride + kx) * a.samples + s]);
          a.y[((c * a.out_height() + oy) * a.out_width() + ox) * a.samples + s] = pick(taps);
        }
}

float largest(const std::vector<float>& taps) { return *std::max_element(taps.begin(), taps.end()); }

constexpr const char* kPoolTask = R"(Pooling: of every window of each channel the largest number.

    y[c, oy, ox, s] = max over ky, kx < window of x[c, oy * stride + ky, ox * stride + kx, s]

    x: [channels, in_height, in_width, samples]   y: [channels, out_height, out_width, samples]
    out_height = (in_height - window) / stride + 1, rounded down; out_width likewise

A maximum has no rounding: the order is free. Numbers may all be negative: begin with the first tap, not with 0.)";

}  // namespace max_pool_parts

Exercise max_pool_exercise() {
  using namespace max_pool_parts;
  ExerciseOf<PoolArgs> e("max-pool", "max_pool");
  e.record.title = "Max pooling";
  e.record.teaches = "Windows that overlap or leave pixels out; a reduction that has no rounding.";
  e.record.needs = {"max"};
  e.record.tracks = {"cpp", "simd", "openmp", "opencl", "cuda", "python"};
  e.record.task = kPoolTask;
  e.size("channels", &PoolArgs::channels, "of the picture");
  e.size("in_height", &PoolArgs::in_height, "of the picture");
  e.size("in_width", &PoolArgs::in_width, "of the picture");
  e.size("window", &PoolArgs::window, "rows and columns of a window");
  e.size("stride", &PoolArgs::stride, "steps of the window");
  e.size("samples", &PoolArgs::samples, "pictures of the batch");
  e.input(
      "x", &PoolArgs::x,
      [](const PoolArgs& a) {
        return Dims{a.channels, a.in_height, a.in_width, a.samples};
      },
      "[channels, in_height, in_width, samples]");
  e.output(
      "y", &PoolArgs::y,
      [](const PoolArgs& a) {
        return Dims{a.channels, a.out_height(), a.out_width(), a.samples};
      },
      "[channels, out_height, out_width, samples]");
  e.record.legal = [](const CaseShape& s) { return s[3] >= 1 && s[4] >= 1 && s[1] >= s[3] && s[2] >= s[3]; };
  e.record.shapes = {{1, 1, 1, 1, 1, 1},   {1, 4, 4, 2, 2, 1},   {2, 5, 7, 2, 2, 3},  {3, 7, 5, 3, 2, 17},
                     {1, 9, 11, 3, 3, 16}, {2, 8, 8, 2, 1, 15},  {5, 6, 6, 3, 3, 33}, {1, 13, 17, 5, 3, 2},
                     {4, 4, 6, 2, 2, 0},   {0, 4, 4, 2, 2, 3},   {1, 7, 7, 2, 3, 8},  {6, 14, 14, 2, 2, 9},
                     {1, 33, 31, 2, 2, 1}, {3, 10, 12, 4, 2, 13}};
  e.record.timed = {16, 56, 56, 2, 2, 32};
  // A third of the pictures has negative numbers only.
  e.prepare([](PoolArgs& a, CaseRandom& random) {
    auto* const x = const_cast<float*>(a.x);
    if (random.below(3) != 0) return;
    for (Index i = 0; i < a.channels * a.in_height * a.in_width * a.samples; ++i) x[i] = -0.5F - std::abs(x[i]);
  });
  e.oracle([](const PoolArgs& a) {
    KernelContext context;
    run(make_naive_table<float>(), a, 0, a.channels, context);
  });
  e.fast([](const PoolArgs& a, int threads) {
    static const auto table = make_simd_table<float>();
    share_rows(a.channels, threads,
               [&](Index first, Index count, KernelContext& context) { run(table, a, first, count, context); });
  });
  e.cost([](const PoolArgs& a) { return pool2d_cost(geometry(a, a.channels), a.samples, sizeof(float)); });
  e.mistake(
      "from-zero", "The comparison begins from 0: where all numbers of a window are negative the result is 0.",
      [](const PoolArgs& a) { windows(a, a.stride, [](const auto& taps) { return std::max(0.0F, largest(taps)); }); });
  e.mistake("mean", "You take the mean of every window; that is average pooling.", [](const PoolArgs& a) {
    windows(a, a.stride, [](const auto& taps) {
      float sum = 0;
      for (const float tap : taps) sum += tap;
      return sum / float(taps.size());
    });
  });
  e.mistake("minimum", "You take the smallest number of every window.", [](const PoolArgs& a) {
    windows(a, a.stride, [](const auto& taps) { return *std::min_element(taps.begin(), taps.end()); });
  });
  e.mistake("no-stride", "The stride is ignored: windows lie one pixel apart.",
            [](const PoolArgs& a) { windows(a, 1, largest); });
  e.mistake("stride-is-window", "You move the window by its own size; it moves by the stride.", [](const PoolArgs& a) {
    if ((a.out_height() - 1) * a.window + a.window > a.in_height ||
        (a.out_width() - 1) * a.window + a.window > a.in_width)
      return windows(a, a.stride, largest);  // there such a kernel would read outside, and the checker says so
    windows(a, a.window, largest);
  });
  e.mistake("first-tap", "y is the first number of every window: the loops over the window do nothing.",
            [](const PoolArgs& a) { windows(a, a.stride, [](const auto& taps) { return taps.front(); }); });
  e.mistake("last-tap", "y is the last number of every window: each one replaces the one before.",
            [](const PoolArgs& a) { windows(a, a.stride, [](const auto& taps) { return taps.back(); }); });
  e.mistake("window-too-small", "The last row and column of every window are left out.", [](const PoolArgs& a) {
    windows(a, a.stride, [&](const auto& taps) {
      float best = a.window == 1 ? std::numeric_limits<float>::lowest() : taps.front();
      for (Index k = 0; k < Index(taps.size()); ++k)
        if (k / a.window < a.window - 1 && k % a.window < a.window - 1) best = std::max(best, taps[std::size_t(k)]);
      return best;
    });
  });
  e.mistake("absolute", "You compare magnitudes: a large negative number wins.", [](const PoolArgs& a) {
    windows(a, a.stride, [](const auto& taps) {
      return *std::max_element(taps.begin(), taps.end(), [](float p, float q) { return std::abs(p) < std::abs(q); });
    });
  });
  return std::move(e.record);
}

}  // namespace lockstep::cli
