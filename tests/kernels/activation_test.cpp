#include "lockstep/kernels/activation.hpp"

#include "tests/kernels/support.hpp"

namespace lockstep::test {
namespace {

struct Kind {
  const char* name;
  ActivationKind kind;
  double slope;
};
const std::vector<Kind> kKinds = {{"relu", ActivationKind::relu, 0},
                                  {"leaky_relu", ActivationKind::leaky_relu, 0.01},
                                  {"leaky_relu of slope 0", ActivationKind::leaky_relu, 0},
                                  {"tanh", ActivationKind::tanh, 0},
                                  {"abs_tanh", ActivationKind::abs_tanh, 0},
                                  {"sigmoid", ActivationKind::sigmoid, 1},
                                  {"sigmoid of slope 2.5", ActivationKind::sigmoid, 2.5},
                                  {"gelu", ActivationKind::gelu, 0}};

template <class T>
TestMatrix<T> forward(const Kind& k, const TestMatrix<T>& x) {
  TestMatrix<T> y(x.rows(), x.cols());
  KernelContext context;
  make_naive_table<T>().activation_forward({.kind = k.kind, .slope = T(k.slope), .x = x.view(), .y = y.view()},
                                           context);
  return y;
}

template <class T>
TestMatrix<T> backward(const Kind& k, const TestMatrix<T>& x, const TestMatrix<T>& y, const TestMatrix<T>& dy) {
  TestMatrix<T> dx(x.rows(), x.cols());
  KernelContext context;
  make_naive_table<T>().activation_backward(
      {.kind = k.kind, .slope = T(k.slope), .x = x.view(), .y = y.view(), .dy = dy.view(), .dx = dx.view()}, context);
  return dx;
}

/// The formulas of the header with the C library's functions.
double formula(const Kind& k, double x) {
  switch (k.kind) {
    case ActivationKind::relu:
      return std::max(x, 0.0);
    case ActivationKind::leaky_relu:
      return x > 0 ? x : k.slope * x;
    case ActivationKind::tanh:
      return std::tanh(x);
    case ActivationKind::abs_tanh:
      return std::abs(std::tanh(x));
    case ActivationKind::sigmoid:
      return 1 / (1 + std::exp(-k.slope * x));
    case ActivationKind::gelu:
      return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
  }
  return 0;
}

/// In [-4, 4), at least 1/64 away from 0, where some kinds have a kink.
TestMatrix<double> inputs(std::int64_t rows, std::int64_t cols) {
  TestMatrix<double> x(rows, cols, 1);
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t s = 0; s < cols; ++s) x(r, s) = 4 * x(r, s) + std::copysign(1.0 / 64, x(r, s));
  return x;
}

TEST(Activation, MatchesTheFormula) {
  for (const Kind& k : kKinds) {
    const auto x = inputs(7, 19);
    const auto y = forward(k, x);
    for (std::int64_t r = 0; r < 7; ++r)
      for (std::int64_t s = 0; s < 19; ++s)
        EXPECT_NEAR(y(r, s), formula(k, x(r, s)), 1e-15 * std::max(1.0, std::abs(y(r, s)))) << k.name << " " << x(r, s);
  }
}

TEST(Activation, GradientsMatchCentralDifferences) {
  for (const Kind& k : kKinds) {
    auto x = inputs(5, 17);
    const TestMatrix<double> dy(5, 17, 2);
    const auto objective = [&] { return weighted_sum(dy, forward(k, x)); };
    EXPECT_LT(gradient_error(x, backward(k, x, forward(k, x), dy), objective), kGradientTolerance) << k.name;
  }
}

TEST(Activation, AtTheKink) {
  TestMatrix<double> x(1, 2), dy(1, 2);
  x(0, 0) = 0.0;
  x(0, 1) = -0.0;
  dy(0, 0) = dy(0, 1) = 3;
  const auto gradient = [&](std::size_t kind) {
    return elements(backward(kKinds[kind], x, forward(kKinds[kind], x), dy));
  };
  EXPECT_EQ(gradient(0), (std::vector<double>{0, 0})) << "relu";
  EXPECT_EQ(gradient(1), (std::vector<double>{3 * 0.01, 3 * 0.01})) << "leaky relu";
  EXPECT_EQ(gradient(4), (std::vector<double>{3, 3})) << "absolute tanh";
}

template <class T>
class ActivationInPlace : public ::testing::Test {};
TYPED_TEST_SUITE(ActivationInPlace, Scalars);

TYPED_TEST(ActivationInPlace, GivesTheSameBits) {
  using T = TypeParam;
  for (const Kind& k : kKinds) {
    const TestMatrix<T> x(3, 17, 1), dy(3, 17, 2);
    const auto y = forward(k, x), dx = backward(k, x, y, dy);
    KernelContext context;
    auto buffer = x;
    make_naive_table<T>().activation_forward(
        {.kind = k.kind, .slope = T(k.slope), .x = buffer.view(), .y = buffer.view()}, context);
    EXPECT_TRUE(identical(buffer, y)) << k.name;
    buffer = dy;
    make_naive_table<T>().activation_backward(
        {.kind = k.kind, .slope = T(k.slope), .x = x.view(), .y = y.view(), .dy = buffer.view(), .dx = buffer.view()},
        context);
    EXPECT_TRUE(identical(buffer, dx)) << k.name;
  }
}

TYPED_TEST(ActivationInPlace, LargeInputsSaturate) {
  using T = TypeParam;
  TestMatrix<T> x(1, 2), dy(1, 2, 1);
  x(0, 0) = T(-1e4);
  x(0, 1) = T(1e4);
  for (const Kind& k : kKinds) {
    const auto y = forward(k, x), dx = backward(k, x, y, dy);
    for (std::int64_t s = 0; s < 2; ++s) {
      EXPECT_TRUE(std::isfinite(y(0, s))) << k.name;
      EXPECT_TRUE(std::isfinite(dx(0, s))) << k.name;
    }
  }
}

}  // namespace
}  // namespace lockstep::test
