#include "cli/exercise/exercises/list.hpp"
#include "cli/exercise/exercises/rows.hpp"
#include "cli/exercise/fields.hpp"
#include "lockstep/kernels/naive/table.hpp"
#include "lockstep/kernels/simd/table.hpp"

namespace lockstep::cli {

namespace relu_parts {

struct ReluArgs {
  std::int64_t n;
  const float *x, *dy;
  float *y, *dx;
};

void run(const KernelTable<float>& table, const ReluArgs& a, std::int64_t first, std::int64_t count,
         KernelContext& context) {
  const auto row = [&](auto* data) { return dense_matrix(data + first, 1, count); };
  table.activation_forward({ActivationKind::relu, 0, row(a.x), row(a.y)}, context);
  table.activation_backward(
      {ActivationKind::relu, 0, row(a.x), row(static_cast<const float*>(a.y)), row(a.dy), row(a.dx)}, context);
}

template <class Forward, class Backward>
void each(const ReluArgs& a, const Forward& forward, const Backward& backward) {
  for (std::int64_t i = 0; i < a.n; ++i) {
    a.y[i] = forward(a.x[i]);
    a.dx[i] = backward(a.x[i], a.dy[i]);
  }
}

float relu(float x) { return x > 0 ? x : 0; }
float slope(float x, float dy) { return x > 0 ? dy : 0; }

/// Zeros of both signs and large numbers among the others.
void prepare(ReluArgs& a, CaseRandom& random) {
  auto* const x = const_cast<float*>(a.x);
  for (std::int64_t i = 0; i < a.n; ++i) switch (random.below(8)) {
      case 0:
        x[i] = 0;
        break;
      case 1:
        x[i] = -0.0F;
        break;
      case 2:
        x[i] *= 1e30F;
        break;
      default:
        break;
    }
}

constexpr const char* kTask = R"(The rectifier and its gradient, element by element:

    y[i]  = x[i] > 0 ? x[i]  : 0
    dx[i] = x[i] > 0 ? dy[i] : 0        all arrays: [n]

dx is the derivative of y at x, times dy. At x = 0 the derivative is 0 by definition.)";

}  // namespace relu_parts

Exercise relu_exercise() {
  using namespace relu_parts;
  ExerciseOf<ReluArgs> e("relu", "relu");
  e.record.title = "ReLU and its gradient";
  e.record.teaches = "Choices without branches; a derivative is taken at the input.";
  e.record.needs = {"max"};
  e.record.tracks = {"cpp", "simd", "openmp", "opencl", "cuda", "python"};
  e.record.task = kTask;
  e.size("n", &ReluArgs::n, "elements of every array");
  const auto shape = [](const ReluArgs& a) { return Dims{a.n}; };
  e.input("x", &ReluArgs::x, shape, "[n]");
  e.input("dy", &ReluArgs::dy, shape, "[n]: the gradient of y");
  e.output("y", &ReluArgs::y, shape, "[n]");
  e.output("dx", &ReluArgs::dx, shape, "[n]: the gradient of x");
  e.record.shapes = awkward_shapes({1000});
  e.record.shapes.push_back({1009});
  e.record.timed = {1 << 21};
  e.prepare(prepare);
  e.oracle([](const ReluArgs& a) {
    static const auto table = make_naive_table<float>();
    KernelContext context;
    run(table, a, 0, a.n, context);
  });
  e.fast([](const ReluArgs& a, int threads) {
    static const auto table = make_simd_table<float>();
    share_rows(a.n, threads, [&](std::int64_t first, std::int64_t count, KernelContext& context) {
      run(table, a, first, count, context);
    });
  });
  e.cost([](const ReluArgs& a) { return Cost{.flops = 2 * double(a.n), .bytes = 16 * double(a.n)}; });
  e.mistake("greater-equal", "At x = 0 your derivative is 1: the contract asks for x > 0, not x >= 0.",
            [](const ReluArgs& a) { each(a, relu, [](float x, float dy) { return x >= 0 ? dy : 0; }); });
  e.mistake("slope-at-gradient", "You take the derivative at dy; it belongs to x.",
            [](const ReluArgs& a) { each(a, relu, [](float, float dy) { return dy > 0 ? dy : 0; }); });
  e.mistake("no-slope", "dx is dy everywhere: the derivative is missing.",
            [](const ReluArgs& a) { each(a, relu, [](float, float dy) { return dy; }); });
  e.mistake("slope-only", "dx is the derivative alone, 1 or 0; it must be multiplied by dy.",
            [](const ReluArgs& a) { each(a, relu, [](float x, float) { return x > 0 ? 1.0F : 0.0F; }); });
  e.mistake("times-value", "dx is dy times y; the derivative of y at x is 1, not x.",
            [](const ReluArgs& a) { each(a, relu, [](float x, float dy) { return relu(x) * dy; }); });
  e.mistake("absolute", "y is the magnitude of x; negative numbers become 0.", [](const ReluArgs& a) {
    each(
        a, [](float x) { return std::abs(x); }, slope);
  });
  e.mistake("copy", "y is x everywhere: negative numbers pass.", [](const ReluArgs& a) {
    each(
        a, [](float x) { return x; }, slope);
  });
  e.mistake("leaky", "Negative numbers are scaled by 0.01 instead of becoming 0: that is the leaky ReLU.",
            [](const ReluArgs& a) {
              each(
                  a, [](float x) { return x > 0 ? x : 0.01F * x; },
                  [](float x, float dy) { return x > 0 ? dy : 0.01F * dy; });
            });
  e.mistake("sign-reversed", "The choice is the wrong way round: negative numbers pass, positive ones become 0.",
            [](const ReluArgs& a) {
              each(
                  a, [](float x) { return x < 0 ? x : 0; }, [](float x, float dy) { return x < 0 ? dy : 0; });
            });
  return std::move(e.record);
}

}  // namespace lockstep::cli
