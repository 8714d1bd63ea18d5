#pragma once
// The SIMD tables that can run here, each to be compared with the naive one.

#include <string_view>
#include <vector>

#include "lockstep/kernels/cpu_features.hpp"
#include "lockstep/kernels/naive/table.hpp"
#include "lockstep/kernels/simd/table.hpp"
#include "tests/kernels/support.hpp"
#if defined(LOCKSTEP_TEST_DEVICES)
#include "tests/kernels/device/staged.hpp"
#endif

namespace lockstep {
namespace simd_wide {
template <class T>
void fill_table(KernelTable<T>& table);
}

namespace test {

/// Every instruction set of this machine, and vectors twice as wide as those of AVX2 (made of two).
template <class T>
std::vector<KernelTable<T>> simd_tables() {
#if defined(LOCKSTEP_TEST_DEVICES)  // the same tests for the tables of a device
  return staged_tables<T>();
#else
  std::vector<KernelTable<T>> tables;
  for (const Isa isa : supported_isas()) tables.push_back(make_simd_table<T>(isa));
#if defined(__x86_64__)
  if (!cpu_features().avx2) return tables;
#endif
  KernelTable<T> wide = make_naive_table<T>();
  simd_wide::fill_table(wide);
  tables.push_back(wide);
  return tables;
#endif
}

/// A matrix at any alignment: `shift` elements behind a cache line, rows `stride` apart, and a check that nothing was
/// written outside of its columns.
template <class T>
class OddMatrix {
 public:
  /// An output: NaN, which a kernel may not read, amid numbers that it may not overwrite.
  OddMatrix(std::int64_t rows, std::int64_t cols, std::int64_t stride, std::int64_t shift)
      : OddMatrix(rows, cols, stride, shift, kCanary, [](std::int64_t) { return kNan<T>; }) {}
  /// An input: random numbers amid NaN.
  OddMatrix(std::int64_t rows, std::int64_t cols, std::int64_t stride, std::int64_t shift, std::uint64_t stream)
      : OddMatrix(rows, cols, stride, shift, kNan<T>, [&](std::int64_t i) { return T(random_value(stream, i)); }) {}

  Matrix<T> view() { return {values_.data() + shift_, rows_, cols_, stride_}; }

  /// Nothing happens where there is no such element.
  void set(std::int64_t row, std::int64_t col, T value) {
    if (0 <= row && row < rows_ && 0 <= col && col < cols_) view()(row, col) = value;
  }

  std::vector<T> elements() {
    std::vector<T> result;
    for (std::int64_t r = 0; r < rows_; ++r)
      for (std::int64_t c = 0; c < cols_; ++c) result.push_back(view()(r, c));
    return result;
  }
  /// Whether the memory before the first and behind the last element is as it was.
  bool ends_untouched() const {
    for (std::int64_t i = 0; i < shift_; ++i)
      if (!same_bits(values_[i], outside_)) return false;
    const std::int64_t last = rows_ == 0 || cols_ == 0 ? 0 : (rows_ - 1) * stride_ + cols_;
    for (std::int64_t i = shift_ + last; i < values_.size(); ++i)
      if (!same_bits(values_[i], outside_)) return false;
    return true;
  }
  /// ends_untouched, and the columns between one row and the next too.
  bool outside_untouched() const {
    for (std::int64_t r = 0; r < rows_; ++r)
      for (std::int64_t c = cols_; c < stride_; ++c)
        if (!same_bits(values_[shift_ + r * stride_ + c], outside_)) return false;
    return ends_untouched();
  }

 private:
  static constexpr std::int64_t kMargin = 64;
  static constexpr T kCanary = T(-7777.25);

  template <class Element>
  OddMatrix(std::int64_t rows, std::int64_t cols, std::int64_t stride, std::int64_t shift, T outside,
            const Element& element)
      : rows_(rows),
        cols_(cols),
        stride_(stride),
        shift_(shift),
        outside_(outside),
        values_(rows * stride + shift + kMargin) {
    for (std::int64_t i = 0; i < values_.size(); ++i) values_[i] = outside;
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t c = 0; c < cols; ++c) view()(r, c) = element(r * cols + c);
  }

  std::int64_t rows_, cols_, stride_, shift_;
  T outside_;
  AlignedBuffer<T> values_;
};

/// How columns may lie in memory: tight, in cache lines as in training, and at odd places.
struct Layout {
  std::int64_t stride, shift;
};
#if defined(LOCKSTEP_TEST_DEVICES)  // launches take their time: the most awkward ones only
inline std::vector<Layout> layouts(std::int64_t cols) { return {{cols + 5, 3}}; }
#else
inline std::vector<Layout> layouts(std::int64_t cols) { return {{cols, 0}, {(cols + 15) / 16 * 16, 0}, {cols + 5, 3}}; }
#endif

/// Around the vectors of every instruction set, and the 16 virtual lanes.
#if defined(LOCKSTEP_TEST_DEVICES)
inline constexpr std::int64_t kAwkwardSamples[] = {0, 1, 7, 15, 16, 17, 33, 67};
#else
inline constexpr std::int64_t kAwkwardSamples[] = {0, 1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 67};
#endif

/// run(table) returns all that a kernel wrote: every table must return what naive does, bit by bit.
template <class T, class Run>
void expect_like_naive(const Run& run) {
  const std::vector<T> expected = run(make_naive_table<T>());
  for (const auto& table : simd_tables<T>()) EXPECT_TRUE(identical(run(table), expected)) << table.backend;
}

/// The elements of an output, after a look at what lies around them.
template <class T>
void collect(std::vector<T>& all, OddMatrix<T>& output) {
  EXPECT_TRUE(output.outside_untouched());
  const std::vector<T> values = output.elements();
  all.insert(all.end(), values.begin(), values.end());
}
template <class T>
void collect(std::vector<T>& all, const std::vector<T>& output) {
  all.insert(all.end(), output.begin(), output.end());
}

}  // namespace test
}  // namespace lockstep
