#include "lockstep/kernels/math/elementary.hpp"

#include <cfloat>
#include <ostream>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "tests/kernels/math/ulp.hpp"

namespace lockstep::math {
namespace {

static_assert(LDBL_MANT_DIG >= 64, "the truth must be finer than double");

long double sigmoid_truth(long double x) {
  return x < 0 ? std::exp(x) / (1.0L + std::exp(x)) : 1.0L / (1.0L + std::exp(-x));
}

// One function: ours in both precisions, the truth, and the bounds that elementary.hpp states.
struct Function {
  std::string name;
  float (*in_float)(float);
  double (*in_double)(double);
  long double (*truth)(long double);
  double float_bound, double_bound;
};

std::ostream& operator<<(std::ostream& out, const Function& function) { return out << function.name; }

const Function kFunctions[] = {
    {"exp", [](float x) { return exp(x); }, [](double x) { return exp(x); }, [](long double x) { return std::exp(x); },
     1.1, 1.1},
    {"log", [](float x) { return log(x); }, [](double x) { return log(x); }, [](long double x) { return std::log(x); },
     0.9, 0.9},
    {"log1p", [](float x) { return log1p(x); }, [](double x) { return log1p(x); },
     [](long double x) { return std::log1p(x); }, 0.9, 0.9},
    {"tanh", [](float x) { return tanh(x); }, [](double x) { return tanh(x); },
     [](long double x) { return std::tanh(x); }, 1.6, 1.6},
    {"sigmoid", [](float x) { return sigmoid(x); }, [](double x) { return sigmoid(x); }, sigmoid_truth, 1.6, 1.6},
};

// Keeps the worst point, so that a failure says where to look.
template <class T>
struct Worst {
  T (*function)(T);
  long double (*truth)(long double);
  double error = 0;
  T at = 0;

  void visit(T x) {
    const double e = ulps(function(x), truth(x));
    if (e <= error) return;
    error = e;
    at = x;
  }
};

class Elementary : public testing::TestWithParam<Function> {};

// Every 1009th bit pattern: 4.3 million numbers over all exponents, both signs, subnormals, infinities, NaNs.
TEST_P(Elementary, FloatIsWithinItsBound) {
  Worst<float> worst{GetParam().in_float, GetParam().truth};
  for (std::uint64_t bits = 0; bits <= 0xFFFFFFFFU; bits += 1009) {
    worst.visit(__builtin_bit_cast(float, static_cast<std::uint32_t>(bits)));
  }
  EXPECT_LE(worst.error, GetParam().float_bound) << "at " << std::hexfloat << worst.at;
}

TEST_P(Elementary, DoubleIsWithinItsBound) {
  Worst<double> worst{GetParam().in_double, GetParam().truth};
  std::mt19937_64 generator(1);
  const auto within = [&](double low, double high) {
    return low + (high - low) * static_cast<double>(generator() >> 11) * 0x1p-53;
  };
  for (int i = 0; i < 400000; ++i) {
    worst.visit(__builtin_bit_cast(double, generator()));                                 // all exponents
    worst.visit(within(-1, 1));                                                           // around 0 and 1
    worst.visit(1 + std::ldexp(within(-1, 1), -1 - static_cast<int>(generator() % 52)));  // towards 1
    worst.visit(std::ldexp(within(-1, 1), -static_cast<int>(generator() % 64)));          // towards 0
    worst.visit(within(-22, 22));                                                         // up to saturation
    worst.visit(within(-746, 711));                                                       // the whole range of exp
    worst.visit(within(-746, -707));                                                      // gradual underflow
    worst.visit(within(0, 2.3e-308));                                                     // subnormal arguments
  }
  EXPECT_LE(worst.error, GetParam().double_bound) << "at " << std::hexfloat << worst.at;
}

// The last step before each limit and the first after it, in every direction.
TEST_P(Elementary, HoldsAtTheEdges) {
  const double edges[] = {0.0,
                          0x1p-149,
                          0x1p-126,
                          0x1p-24,
                          0x1p-25,
                          0.70710678,
                          1.0,
                          1.41421356,
                          2.0,
                          9.01,
                          10.0,
                          16.635532,
                          17.32868,
                          87.33654,
                          88.72284,
                          89.0,
                          103.27893,
                          103.97208,
                          105.0,
                          3.4028235e38,
                          0x1p-1074,
                          0x1p-1022,
                          0x1p-53,
                          0x1p-54,
                          19.06,
                          20.0,
                          36.7,
                          708.39641853226408,
                          709.78271289338397,
                          710.0,
                          744.44007192138122,
                          745.13321910194122,
                          746.0,
                          1.7976931348623157e308};
  Worst<float> in_float{GetParam().in_float, GetParam().truth};
  Worst<double> in_double{GetParam().in_double, GetParam().truth};
  for (const double edge : edges) {
    for (const double sign : {1.0, -1.0}) {
      float x = static_cast<float>(sign * edge);
      double y = sign * edge;
      for (int step = 0; step < 8; ++step) x = std::nextafter(x, 0.0F), y = std::nextafter(y, 0.0);
      for (int step = 0; step < 16; ++step) {
        in_float.visit(x);
        in_double.visit(y);
        x = std::nextafter(x, std::copysign(std::numeric_limits<float>::infinity(), x));
        y = std::nextafter(y, std::copysign(std::numeric_limits<double>::infinity(), y));
      }
    }
  }
  EXPECT_LE(in_float.error, GetParam().float_bound) << "at " << std::hexfloat << in_float.at;
  EXPECT_LE(in_double.error, GetParam().double_bound) << "at " << std::hexfloat << in_double.at;
}

INSTANTIATE_TEST_SUITE_P(All, Elementary, testing::ValuesIn(kFunctions),
                         [](const auto& test) { return test.param.name; });

template <class T>
class Special : public testing::Test {};
using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(Special, Scalars);

TYPED_TEST(Special, ValuesAreExact) {
  using T = TypeParam;
  const T inf = std::numeric_limits<T>::infinity(), zero = 0, one = 1;
  EXPECT_EQ(exp(zero), one);
  EXPECT_EQ(exp(-zero), one);
  EXPECT_EQ(exp(inf), inf);
  EXPECT_EQ(exp(-inf), zero);
  EXPECT_EQ(exp(T(-1e6)), zero);
  EXPECT_EQ(exp(T(1e6)), inf);
  EXPECT_EQ(log(one), zero);
  EXPECT_EQ(log(zero), -inf);
  EXPECT_EQ(log(-zero), -inf);
  EXPECT_EQ(log(inf), inf);
  EXPECT_EQ(log1p(-one), -inf);
  EXPECT_EQ(log1p(inf), inf);
  EXPECT_EQ(tanh(inf), one);
  EXPECT_EQ(tanh(-inf), -one);
  EXPECT_EQ(sigmoid(zero), T(0.5));
  EXPECT_EQ(sigmoid(inf), one);
  EXPECT_EQ(sigmoid(-inf), zero);
  for (const T tiny : {std::numeric_limits<T>::denorm_min(), std::numeric_limits<T>::min(), T(1e-30), zero}) {
    for (const T x : {tiny, -tiny}) {
      EXPECT_EQ(tanh(x), x);
      EXPECT_EQ(log1p(x), x);
      EXPECT_EQ(std::signbit(tanh(x)), std::signbit(x));
      EXPECT_EQ(std::signbit(log1p(x)), std::signbit(x));
    }
  }
}

TYPED_TEST(Special, NanStaysNan) {
  using T = TypeParam;
  const T nan = std::numeric_limits<T>::quiet_NaN(), inf = std::numeric_limits<T>::infinity();
  for (const T x : {nan, -nan}) {
    EXPECT_TRUE(std::isnan(exp(x)) && std::isnan(log(x)) && std::isnan(log1p(x)) && std::isnan(tanh(x)) &&
                std::isnan(sigmoid(x)));
  }
  for (const T x : {T(-1), T(-1e-30), -inf, -std::numeric_limits<T>::denorm_min()}) EXPECT_TRUE(std::isnan(log(x)));
  for (const T x : {T(-1.5), -inf, T(-1e30)}) EXPECT_TRUE(std::isnan(log1p(x)));
}

// Golden bits: what L5 promises of every compiler. A change needs a new numerics_version.
TEST(ElementaryGolden, Bits) {
  EXPECT_EQ(exp(1.0F), 0x1.5bf0a8p+1F);
  EXPECT_EQ(exp(1.0), 0x1.5bf0a8b14576ap+1);
  EXPECT_EQ(exp(-87.9F), 0x1.237328p-127F);
  EXPECT_EQ(exp(-87.9), 0x1.2373449a3b0f8p-127);
  EXPECT_EQ(log(10.0F), 0x1.26bb1cp+1F);
  EXPECT_EQ(log(10.0), 0x1.26bb1bbb55516p+1);
  EXPECT_EQ(log(0.7F), -0x1.6d3c34p-2F);
  EXPECT_EQ(log(0.7), -0x1.6d3c324e13f5p-2);
  EXPECT_EQ(log1p(0.001F), 0x1.060356p-10F);
  EXPECT_EQ(log1p(0.001), 0x1.060354f8c3ebfp-10);
  EXPECT_EQ(log1p(-0.6F), -0x1.d5241p-1F);
  EXPECT_EQ(log1p(-0.6), -0x1.d5240f0e0e077p-1);
  EXPECT_EQ(tanh(0.3F), 0x1.2a4ddcp-2F);
  EXPECT_EQ(tanh(0.3), 0x1.2a4dda7d914fap-2);
  EXPECT_EQ(tanh(-1.7F), -0x1.deedfp-1F);
  EXPECT_EQ(tanh(-1.7), -0x1.deedf00d3e7f5p-1);
  EXPECT_EQ(sigmoid(1.3F), 0x1.9258f6p-1F);
  EXPECT_EQ(sigmoid(1.3), 0x1.9258f68070e5ep-1);
  EXPECT_EQ(sigmoid(-4.2F), 0x1.e41d96p-7F);
  EXPECT_EQ(sigmoid(-4.2), 0x1.e41d8f79f1437p-7);
}

}  // namespace
}  // namespace lockstep::math
