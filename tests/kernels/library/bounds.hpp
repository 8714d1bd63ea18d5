#pragma once
// How far two right answers may lie apart. A sum of n products, added in any order, with or without fma, is off by at
// most gamma(n) * (sum of the absolute products), gamma(n) = n u / (1 - n u), u half a unit in the last place (Higham,
// Accuracy and Stability of Numerical Algorithms, section 3.1). Two of them differ by at most twice that. What is not a
// mere sum of products is evaluated with numbers that carry such a bound along.

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "lockstep/core/error.hpp"
#include "lockstep/kernels/library/table.hpp"
#include "lockstep/kernels/naive/table.hpp"
#include "tests/kernels/simd/tables.hpp"
#ifdef LOCKSTEP_TEST_DEVICES
#include "tests/kernels/device/staged.hpp"
#endif

namespace lockstep::test {

/// Half a unit in the last place of 1.
template <class T>
inline constexpr double kUnit = std::numeric_limits<T>::epsilon() / 2;

template <class T>
double gamma_of(std::int64_t roundings) {
  const double nu = double(roundings) * kUnit<T>;
  return nu / (1 - nu);
}

/// How far two sums of `terms` products may differ, for each element; `magnitude` is the same sum over absolute values,
/// itself computed in T or better.
template <class T, class M>
std::vector<double> sum_bounds(const std::vector<M>& magnitude, std::int64_t terms) {
  // One more rounding for a bias, and the magnitude may itself be too small.
  const double gamma = gamma_of<T>(terms + 1), factor = 2 * gamma / (1 - gamma);
  std::vector<double> bounds;
  for (const M m : magnitude) bounds.push_back(factor * double(m));
  return bounds;
}

template <class T>
::testing::AssertionResult within(const std::vector<T>& actual, const std::vector<T>& expected,
                                  const std::vector<double>& bounds) {
  if (actual.size() != expected.size() || actual.size() != bounds.size())
    return ::testing::AssertionFailure() << actual.size() << " elements, " << expected.size() << " expected, "
                                         << bounds.size() << " bounds";
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const double difference = std::abs(double(actual[i]) - double(expected[i]));
    if (!(difference <= bounds[i]))  // also where it is not a number
      return ::testing::AssertionFailure()
             << "element " << i << ": " << actual[i] << ", expected " << expected[i] << "; they differ by "
             << difference << ", at most " << bounds[i] << " is rounding";
  }
  return ::testing::AssertionSuccess();
}

/// A number that some evaluation in float knows up to `error`, every operation rounding once. The value itself is kept
/// in double, whose own rounding is 2^-29 of that: close_to() allows for it.
struct Rounded {
  double value = 0, error = 0;

  static Rounded after(double value, double error) { return {value, error + kUnit<float> * (std::abs(value) + error)}; }
  friend Rounded operator+(Rounded a, Rounded b) { return after(a.value + b.value, a.error + b.error); }
  friend Rounded operator-(Rounded a, Rounded b) { return after(a.value - b.value, a.error + b.error); }
  friend Rounded operator*(Rounded a, Rounded b) {
    return after(a.value * b.value, std::abs(a.value) * b.error + std::abs(b.value) * a.error + a.error * b.error);
  }
  friend Rounded operator/(Rounded a, Rounded b) {
    const double least = std::abs(b.value) - b.error;
    return after(a.value / b.value, (a.error + std::abs(a.value / b.value) * b.error) / least);
  }
};

inline Rounded square_root(Rounded a) {
  const double root = std::sqrt(a.value);
  return Rounded::after(root, root - std::sqrt(std::max(0.0, a.value - a.error)));
}

/// The sum in any order.
inline Rounded sum(const std::vector<Rounded>& terms) {
  double value = 0, error = 0, magnitude = 0;
  for (const Rounded& term : terms) {
    value += term.value;
    error += term.error;
    magnitude += std::abs(term.value) + term.error;
  }
  return {value, error + gamma_of<float>(static_cast<std::int64_t>(terms.size())) * magnitude};
}

/// How far two evaluations may differ, each as far off as its own bound says.
inline double apart(Rounded a, Rounded b) { return 1.001 * (a.error + b.error); }

/// The library of this machine's processor, or of the device of the test program.
template <class T>
KernelTable<T> library_under_test() {
#ifdef LOCKSTEP_TEST_DEVICES
  return staged_tables<T>().front();
#else
  return make_library_table<T>();
#endif
}

/// The table to test; skips the test where a library is missing (the test group of scripts/bootstrap installs both).
template <class T>
class LibraryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    try {
      table = library_under_test<T>();
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
  }

  KernelTable<T> table{}, naive = make_naive_table<T>();
};

/// |x| as double.
template <class T>
std::vector<double> magnitudes(const std::vector<T>& values) {
  std::vector<double> result;
  for (const T value : values) result.push_back(std::abs(double(value)));
  return result;
}
template <class T>
TestMatrix<double> magnitudes(const Matrix<T>& m) {
  TestMatrix<double> result(m.rows, m.cols);
  for (std::int64_t r = 0; r < m.rows; ++r)
    for (std::int64_t c = 0; c < m.cols; ++c) result(r, c) = std::abs(double(m(r, c)));
  return result;
}

}  // namespace lockstep::test
