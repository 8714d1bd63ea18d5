#include "tests/kernels/math/lanes.hpp"

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "lockstep/kernels/math/elementary.hpp"

namespace lockstep::math {
namespace {

struct InstructionSet {
  std::string name;
  bool supported;
  void (*in_float)(LaneFunction, const float*, float*, std::int64_t);
  void (*in_double)(LaneFunction, const double*, double*, std::int64_t);
};

std::vector<InstructionSet> instruction_sets() {
  std::vector<InstructionSet> sets = {{"baseline", true, &baseline::apply, &baseline::apply}};
#if defined(__x86_64__)
  const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const bool has_avx512 = has_avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq");
  sets.push_back({"avx2", has_avx2, &avx2::apply, &avx2::apply});
  sets.push_back({"avx512", has_avx512, &avx512::apply, &avx512::apply});
#endif
  return sets;
}

template <class T>
T scalar(LaneFunction function, T x) {
  switch (function) {
    case LaneFunction::exp:
      return exp(x);
    case LaneFunction::log:
      return log(x);
    case LaneFunction::log1p:
      return log1p(x);
    case LaneFunction::tanh:
      return tanh(x);
    case LaneFunction::sigmoid:
      return sigmoid(x);
    case LaneFunction::sqrt:
      return sqrt(x);
  }
  return x;
}

// All bit patterns in turn, numbers of everyday size, and lanes that disagree on every comparison.
template <class T>
std::vector<T> arguments() {
  std::mt19937_64 generator(7);
  std::vector<T> x;
  for (int i = 0; i < 100000; ++i) {
    x.push_back(__builtin_bit_cast(T, static_cast<typename Ops<T>::Bits>(generator())));
    x.push_back(static_cast<T>(static_cast<double>(generator() >> 11) * 0x1p-53 * 40 - 20));
    x.push_back(static_cast<T>(std::ldexp(1.0, -static_cast<int>(generator() % 1100))));
    x.push_back(static_cast<T>(static_cast<double>(generator() >> 11) * 0x1p-53 * 1600 - 800));
  }
  return x;
}

template <class T, class Apply>
void expect_same_bits(Apply apply) {
  const std::vector<T> x = arguments<T>();
  std::vector<T> y(x.size());
  for (const LaneFunction function : kLaneFunctions) {
    apply(function, x.data(), y.data(), static_cast<std::int64_t>(x.size()));
    for (std::size_t i = 0; i < x.size(); ++i) {
      const T wanted = scalar(function, x[i]);
      if (std::isnan(wanted) && std::isnan(y[i])) continue;  // the sign and payload of a NaN are not promised
      ASSERT_EQ(Ops<T>::to_bits(y[i]), Ops<T>::to_bits(wanted))
          << "function " << static_cast<int>(function) << " at " << std::hexfloat << x[i];
    }
  }
}

class Lanes : public testing::TestWithParam<InstructionSet> {};

TEST_P(Lanes, GiveTheBitsOfTheScalar) {
  if (!GetParam().supported) GTEST_SKIP() << "this processor has no " << GetParam().name;
  expect_same_bits<float>(GetParam().in_float);
  expect_same_bits<double>(GetParam().in_double);
}

INSTANTIATE_TEST_SUITE_P(All, Lanes, testing::ValuesIn(instruction_sets()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace lockstep::math
