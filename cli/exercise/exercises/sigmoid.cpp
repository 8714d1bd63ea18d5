#include "cli/exercise/exercises/helpers.hpp"
#include "cli/exercise/exercises/list.hpp"
#include "cli/exercise/exercises/rows.hpp"
#include "cli/exercise/fields.hpp"
#include "lockstep/kernels/math/elementary.hpp"
#include "lockstep/kernels/naive/table.hpp"
#include "lockstep/kernels/simd/table.hpp"

#include <cmath>

namespace lockstep::cli {

namespace sigmoid_parts {

struct SigmoidArgs {
  std::int64_t n;
  const float *x, *dy;
  float *y, *dx;
};

void run(const KernelTable<float>& table, const SigmoidArgs& a, std::int64_t first, std::int64_t count,
         KernelContext& context) {
  const auto row = [&](auto* data) { return dense_matrix(data + first, 1, count); };
  const ConstMatrix<float> y = row(a.y);
  table.activation_forward({ActivationKind::sigmoid, 1, row(a.x), row(a.y)}, context);
  table.activation_backward({ActivationKind::sigmoid, 1, row(a.x), y, row(a.dy), row(a.dx)}, context);
}

template <class Forward, class Backward>
void each(const SigmoidArgs& a, const Forward& forward, const Backward& backward) {
  for (std::int64_t i = 0; i < a.n; ++i) {
    const float y = forward(a.x[i]);
    a.y[i] = y;
    a.dx[i] = backward(a.x[i], y, a.dy[i]);
  }
}

float right(float x) { return math::sigmoid(x); }
float slope(float, float y, float dy) { return dy * (y * (1 - y)); }
/// With e = exp(-|x|), but an ordinary division.
float divided(float x) {
  const float e = math::exp(-std::abs(x));
  return (x < 0 ? e : 1.0F) / (1 + e);
}

/// Mostly where the curve bends, some far out, where exp(-x) is infinite.
void prepare(SigmoidArgs& a, CaseRandom& random) {
  auto* const x = const_cast<float*>(a.x);
  for (std::int64_t i = 0; i < a.n; ++i) x[i] *= random.below(8) == 0 ? 120.0F : 6.0F;
}

constexpr const char* kTask = R"(The logistic function and its gradient, element by element:

    y[i]  = 1 / (1 + exp(-x[i]))
    dx[i] = dy[i] * (y[i] * (1 - y[i]))        all arrays: [n]

exp(-x) is infinite for x below -88, so the contract takes the exponential of a number that is never positive. With
`contract_exp` of the header (the C library's expf is another one on every machine):

    e = contract_exp(-|x|)                     |x| above 105 counts as 105
    a = x < 0 ? e : 1        b = 1 + e         y = a / b, with the digits that 1 + e has lost:
    inverse = 1 / b          first = a * inverse          low = e - (b - 1)
    rest = fmaf(-first, b, a) + fmaf(-first, low, 0)      y = fmaf(rest, inverse, first)

The last line corrects the quotient by what is left over. dx: first y * (1 - y), then times dy.)";

}  // namespace sigmoid_parts

Exercise sigmoid_exercise() {
  using namespace sigmoid_parts;
  ExerciseOf<SigmoidArgs> e("sigmoid", "sigmoid");
  e.record.title = "The sigmoid and its gradient";
  e.record.teaches = "Overflow, rounding errors and how to lose none; a derivative by way of the result.";
  e.record.needs = {"relu"};
  e.record.tracks = {"cpp", "simd", "openmp", "cuda"};
  e.record.task = kTask;
  e.record.helpers = kExpHelper;
  e.size("n", &SigmoidArgs::n, "elements of every array");
  const auto shape = [](const SigmoidArgs& a) { return Dims{a.n}; };
  e.input("x", &SigmoidArgs::x, shape, "[n]");
  e.input("dy", &SigmoidArgs::dy, shape, "[n]: the gradient of y");
  e.output("y", &SigmoidArgs::y, shape, "[n]");
  e.output("dx", &SigmoidArgs::dx, shape, "[n]: the gradient of x");
  e.record.shapes = awkward_shapes({1000});
  e.record.shapes.push_back({1009});
  e.record.timed = {1 << 19};
  e.prepare(prepare);
  e.oracle([](const SigmoidArgs& a) {
    static const auto table = make_naive_table<float>();
    KernelContext context;
    run(table, a, 0, a.n, context);
  });
  e.fast([](const SigmoidArgs& a, int threads) {
    static const auto table = make_simd_table<float>();
    share_rows(a.n, threads, [&](std::int64_t first, std::int64_t count, KernelContext& context) {
      run(table, a, first, count, context);
    });
  });
  e.cost([](const SigmoidArgs& a) { return Cost{.flops = 30 * double(a.n), .bytes = 16 * double(a.n)}; });
  e.another_order("no-correction", "The quotient is not corrected: y = a / b, without what the division left over.",
                  [](const SigmoidArgs& a) { each(a, divided, slope); });
  e.another_order("library-exp", "You call the C library's expf; use contract_exp, which is the same on every machine.",
                  [](const SigmoidArgs& a) {
                    each(
                        a, [](float x) { return 1 / (1 + std::exp(-x)); }, slope);
                  });
  e.another_order(
      "gradient-order", "dx is (dy * y) * (1 - y); the contract multiplies y * (1 - y) first.",
      [](const SigmoidArgs& a) { each(a, right, [](float, float y, float dy) { return dy * y * (1 - y); }); });
  e.another_order(
      "gradient-expanded", "dx is dy * (y - y * y); the contract has y * (1 - y).",
      [](const SigmoidArgs& a) { each(a, right, [](float, float y, float dy) { return dy * (y - y * y); }); });
  e.another_order("overflow-form",
                  "You compute 1 / (1 + contract_exp(-x)) for every sign; the contract takes exp of -|x|.",
                  [](const SigmoidArgs& a) {
                    each(
                        a, [](float x) { return 1 / (1 + math::exp(-x)); }, slope);
                  });
  e.mistake("slope-at-input", "You take the derivative as x * (1 - x); it is y * (1 - y), by way of the result.",
            [](const SigmoidArgs& a) { each(a, right, [](float x, float, float dy) { return dy * (x * (1 - x)); }); });
  e.mistake("slope-twice", "You apply the sigmoid to y again before you take the derivative.",
            [](const SigmoidArgs& a) {
              each(a, right, [](float, float y, float dy) { return dy * (right(y) * (1 - right(y))); });
            });
  e.mistake("no-gradient", "dx is y * (1 - y) alone; it must be multiplied by dy.",
            [](const SigmoidArgs& a) { each(a, right, [](float, float y, float) { return y * (1 - y); }); });
  e.mistake("sign", "y falls where it should rise: the exponent is x, and should be -x.", [](const SigmoidArgs& a) {
    each(
        a, [](float x) { return right(-x); }, slope);
  });
  e.mistake("minus-gradient", "dx has the wrong sign.", [](const SigmoidArgs& a) {
    each(a, right, [](float, float y, float dy) { return -(dy * (y * (1 - y))); });
  });
  e.mistake("tanh", "You compute the hyperbolic tangent.", [](const SigmoidArgs& a) {
    each(
        a, [](float x) { return math::tanh(x); }, slope);
  });
  return std::move(e.record);
}

}  // namespace lockstep::cli
