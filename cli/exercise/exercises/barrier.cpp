#include "cli/exercise/exercises/list.hpp"
#include "cli/exercise/exercises/rows.hpp"
#include "cli/exercise/fields.hpp"

#include <algorithm>
#include <vector>

namespace lockstep::cli {

namespace barrier_parts {

using Index = std::int64_t;

struct SmoothArgs {
  Index n, steps;
  const float* x;
  float* y;
};

float smoothed(const float* from, Index n, Index i) {
  const float left = from[std::max<Index>(i - 1, 0)], right = from[std::min(i + 1, n - 1)];
  return __builtin_fmaf(0.3F, left + right, 0.4F * from[i]);
}

void smooth(const SmoothArgs& a, Index steps, int threads) {
  std::vector<float> one(a.x, a.x + a.n), other(one.size());
  for (Index step = 0; step < steps; ++step) {
    share_rows(a.n, threads, [&](Index first, Index count, KernelContext&) {
      for (Index i = first; i < first + count; ++i) other[std::size_t(i)] = smoothed(one.data(), a.n, i);
    });
    one.swap(other);
  }
  std::copy(one.begin(), one.end(), a.y);
}

constexpr const char* kSmoothTask =
    R"(A row of numbers is smoothed again and again; every number looks at its neighbours of the step before.

    next[i] = fmaf(0.3f, now[i - 1] + now[i + 1], 0.4f * now[i])      `steps` times, from x; the result is y

    x, y: [n]. At the ends the number itself stands for the neighbour that is missing: now[-1] = now[0], now[n] = now[n - 1]

No thread may begin step t + 1 before all have finished step t: that is a barrier. Two arrays in turn hold `now` and
`next`; with one array a number would see neighbours of two different steps. steps = 0 gives y = x.)";

}  // namespace barrier_parts

Exercise barrier_exercise() {
  using namespace barrier_parts;
  ExerciseOf<SmoothArgs> e("barrier", "smooth");
  e.record.title = "A barrier between steps";
  e.record.teaches = "Steps that depend on each other: where threads must wait, and what waiting costs.";
  e.record.needs = {"relu"};
  e.record.tracks = {"cpp", "simd", "openmp", "python"};
  e.record.task = kSmoothTask;
  e.size("n", &SmoothArgs::n, "numbers");
  e.size("steps", &SmoothArgs::steps, "steps");
  e.input(
      "x", &SmoothArgs::x, [](const SmoothArgs& a) { return Dims{a.n}; }, "[n]");
  e.output(
      "y", &SmoothArgs::y, [](const SmoothArgs& a) { return Dims{a.n}; }, "[n]");
  e.record.shapes = awkward_shapes({65, 17});
  e.record.shapes.push_back({1009, 8});
  e.record.shapes.push_back({4099, 3});
  e.record.timed = {200000, 16};
  e.oracle([](const SmoothArgs& a) { smooth(a, a.steps, 1); });
  e.fast([](const SmoothArgs& a, int threads) { smooth(a, a.steps, threads); });
  e.cost(
      [](const SmoothArgs& a) { return Cost{.flops = 4 * double(a.n * a.steps), .bytes = 8 * double(a.n * a.steps)}; });
  e.terms([](const SmoothArgs& a) { return 3 * a.steps; });
  e.mistake("one-array", "The steps run in one array: a number sees its left neighbour of the same step.",
            [](const SmoothArgs& a) {
              std::copy_n(a.x, a.n, a.y);
              for (Index step = 0; step < a.steps; ++step)
                for (Index i = 0; i < a.n; ++i) a.y[i] = smoothed(a.y, a.n, i);
            });
  e.mistake("one-step-less", "One step is missing.",
            [](const SmoothArgs& a) { smooth(a, std::max<Index>(a.steps - 1, 0), 1); });
  e.mistake("one-step-more", "There is one step too many.", [](const SmoothArgs& a) { smooth(a, a.steps + 1, 1); });
  e.mistake("ends-kept", "The first and the last number stay as they were.", [](const SmoothArgs& a) {
    std::vector<float> one(a.x, a.x + a.n), other(one);
    for (Index step = 0; step < a.steps; ++step) {
      for (Index i = 1; i + 1 < a.n; ++i) other[std::size_t(i)] = smoothed(one.data(), a.n, i);
      one.swap(other);
    }
    std::copy(one.begin(), one.end(), a.y);
  });
  e.mistake("wrong-array", "With an odd number of steps y comes from the wrong one of the two arrays.",
            [](const SmoothArgs& a) { smooth(a, a.steps % 2 == 1 ? a.steps - 1 : a.steps, 1); });
  e.another_order("no-fma", "You multiply and add with two roundings; the contract has fmaf.", [](const SmoothArgs& a) {
    std::vector<float> one(a.x, a.x + a.n), other(one);
    for (Index step = 0; step < a.steps; ++step) {
      for (Index i = 0; i < a.n; ++i) {
        const float sides =
            0.3F * (one[std::size_t(std::max<Index>(i - 1, 0))] + one[std::size_t(std::min(i + 1, a.n - 1))]);
        other[std::size_t(i)] = sides + 0.4F * one[std::size_t(i)];
      }
      one.swap(other);
    }
    std::copy(one.begin(), one.end(), a.y);
  });
  return std::move(e.record);
}

}  // namespace lockstep::cli
