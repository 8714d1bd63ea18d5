#pragma once
// What the kernel tests share: matrices whose padding is NaN, seeded random values, comparison bit by bit, and central
// differences. Outputs start as NaN, so a kernel that reads or forgets one is seen.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "lockstep/core/random.hpp"
#include "lockstep/kernels/naive/table.hpp"
#include "lockstep/kernels/slots.hpp"
#include "lockstep/tensor/view.hpp"

namespace lockstep::test {

template <class T>
inline constexpr T kNan = std::numeric_limits<T>::quiet_NaN();

using Scalars = ::testing::Types<float, double>;

/// Number `element` of stream `stream`: uniform in [-1, 1).
inline double random_value(std::uint64_t stream, std::int64_t element) {
  return 2 * uniform({.seed = stream, .purpose = Purpose::data}, static_cast<std::uint64_t>(element)) - 1;
}

template <class T>
std::vector<T> random_vector(std::int64_t count, std::uint64_t stream, double low = -1, double high = 1) {
  std::vector<T> values(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i)
    values[static_cast<std::size_t>(i)] = T(low + (high - low) * 0.5 * (random_value(stream, i) + 1));
  return values;
}

template <class T>
std::vector<T> nan_vector(std::int64_t count) {
  return std::vector<T>(static_cast<std::size_t>(count), kNan<T>);
}

/// A matrix that owns its elements, with three columns of NaN between one row and the next.
template <class T>
class TestMatrix {
 public:
  static constexpr std::int64_t kPadding = 3;

  TestMatrix() = default;
  /// All NaN: an output.
  TestMatrix(std::int64_t rows, std::int64_t cols)
      : rows_(rows), cols_(cols), values_(static_cast<std::size_t>(rows * (cols + kPadding)), kNan<T>) {}
  /// Uniform in [-1, 1): an input.
  TestMatrix(std::int64_t rows, std::int64_t cols, std::uint64_t stream) : TestMatrix(rows, cols) {
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t c = 0; c < cols; ++c) (*this)(r, c) = T(random_value(stream, r * cols + c));
  }

  std::int64_t rows() const { return rows_; }
  std::int64_t cols() const { return cols_; }
  T& operator()(std::int64_t r, std::int64_t c) {
    return values_[static_cast<std::size_t>(r * (cols_ + kPadding) + c)];
  }
  const T& operator()(std::int64_t r, std::int64_t c) const {
    return values_[static_cast<std::size_t>(r * (cols_ + kPadding) + c)];
  }
  Matrix<T> view() { return {values_.data(), rows_, cols_, cols_ + kPadding}; }
  ConstMatrix<T> view() const { return {values_.data(), rows_, cols_, cols_ + kPadding}; }
  /// Columns [first, last) of this matrix.
  ConstMatrix<T> columns(std::int64_t first, std::int64_t last) const {
    return {values_.data() + first, rows_, last - first, cols_ + kPadding};
  }

 private:
  std::int64_t rows_ = 0, cols_ = 0;
  std::vector<T> values_;
};

/// Bounds of a chunk with these slot sizes. Keep the object alive as long as its slots().
class Cut {
 public:
  Cut(std::initializer_list<std::int64_t> sizes) : Cut(std::vector<std::int64_t>(sizes)) {}
  explicit Cut(const std::vector<std::int64_t>& sizes) {
    for (const std::int64_t size : sizes) bounds_.push_back(bounds_.back() + size);
  }
  Slots slots() const { return {bounds_}; }
  std::int64_t samples() const { return bounds_.back(); }

 private:
  std::vector<std::int64_t> bounds_ = {0};
};

/// Slot partitions for tests of sums over samples: one sample, part of a vector, one more than a vector, empty slots.
inline const std::vector<std::vector<std::int64_t>> kCuts = {
    {1}, {3}, {16}, {17}, {5, 4}, {15, 17}, {1, 0}, {0, 7, 0, 2}, {16, 16, 19, 33}, {0, 0}, {2, 1, 3, 0, 1, 1, 5, 1}};

/// The same bits; every NaN counts as the same, since IEEE leaves its payload open.
template <class T>
bool same_bits(T a, T b) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  return std::bit_cast<Bits>(a) == std::bit_cast<Bits>(b) || (std::isnan(a) && std::isnan(b));
}

template <class T>
::testing::AssertionResult identical(const std::vector<T>& actual, const std::vector<T>& expected) {
  if (actual.size() != expected.size())
    return ::testing::AssertionFailure() << actual.size() << " elements, expected " << expected.size();
  for (std::size_t i = 0; i < actual.size(); ++i)
    if (!same_bits(actual[i], expected[i]))
      return ::testing::AssertionFailure() << std::hexfloat << "element " << std::dec << i << std::hexfloat << ": "
                                           << actual[i] << ", expected " << expected[i];
  return ::testing::AssertionSuccess();
}

/// The elements without the padding, row by row.
template <class T>
std::vector<T> elements(const TestMatrix<T>& m) {
  std::vector<T> values;
  for (std::int64_t r = 0; r < m.rows(); ++r)
    for (std::int64_t c = 0; c < m.cols(); ++c) values.push_back(m(r, c));
  return values;
}

template <class T>
::testing::AssertionResult identical(const TestMatrix<T>& actual, const TestMatrix<T>& expected) {
  if (actual.rows() != expected.rows() || actual.cols() != expected.cols())
    return ::testing::AssertionFailure() << "[" << actual.rows() << "," << actual.cols() << "], expected ["
                                         << expected.rows() << "," << expected.cols() << "]";
  return identical(elements(actual), elements(expected));
}

/// sum of c * y: with dy = c, the gradient of this number is what backward computes.
inline double weighted_sum(const TestMatrix<double>& c, const TestMatrix<double>& y) {
  double sum = 0;
  for (std::int64_t r = 0; r < y.rows(); ++r)
    for (std::int64_t s = 0; s < y.cols(); ++s) sum += c(r, s) * y(r, s);
  return sum;
}

inline constexpr double kGradientTolerance = 1e-8;

/// df/dx by central differences of fourth order: the method's error is of order h^4, rounding's of order 1e-16 / h.
template <class F>
double difference_quotient(double& x, const F& f, double h = 0x1p-12) {
  const double start = x;
  const auto at = [&](double shift) {
    x = start + shift;
    const double value = f();
    x = start;
    return value;
  };
  return (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h);
}

/// |difference quotient - expected| / max(1, |expected|); infinite where something is not a number.
template <class F>
double gradient_error(double& x, double expected, const F& f) {
  const double error = std::abs(difference_quotient(x, f) - expected) / std::max(1.0, std::abs(expected));
  return std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
}

/// The largest gradient_error over all elements.
template <class F>
double gradient_error(TestMatrix<double>& x, const TestMatrix<double>& expected, const F& f) {
  double worst = 0;
  for (std::int64_t r = 0; r < x.rows(); ++r)
    for (std::int64_t s = 0; s < x.cols(); ++s) worst = std::max(worst, gradient_error(x(r, s), expected(r, s), f));
  return worst;
}

template <class F>
double gradient_error(std::vector<double>& x, const std::vector<double>& expected, const F& f) {
  double worst = x.size() == expected.size() ? 0 : std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < std::min(x.size(), expected.size()); ++i)
    worst = std::max(worst, gradient_error(x[i], expected[i], f));
  return worst;
}

}  // namespace lockstep::test
