#pragma once
// The SIMD tables that can run here, each to be compared with the naive one.

#include <string_view>
#include <vector>

#include "lockstep/kernels/cpu_features.hpp"
#include "lockstep/kernels/naive/table.hpp"
#include "lockstep/kernels/simd/table.hpp"
#include "tests/kernels/support.hpp"

namespace lockstep {
namespace simd_wide {
template <class T>
void fill_table(KernelTable<T>& table);
}

namespace test {

/// Every instruction set of this machine, and vectors twice as wide as those of AVX2 (made of two).
template <class T>
std::vector<KernelTable<T>> simd_tables() {
  std::vector<KernelTable<T>> tables;
  for (const Isa isa : supported_isas()) tables.push_back(make_simd_table<T>(isa));
#if defined(__x86_64__)
  if (!cpu_features().avx2) return tables;
#endif
  KernelTable<T> wide = make_naive_table<T>();
  simd_wide::fill_table(wide);
  tables.push_back(wide);
  return tables;
}

/// A matrix at any alignment: `shift` elements behind a cache line, rows `stride` apart, NaN around the elements, and a
/// check that nothing was written outside of its columns.
template <class T>
class OddMatrix {
 public:
  OddMatrix(std::int64_t rows, std::int64_t cols, std::int64_t stride, std::int64_t shift)
      : rows_(rows), cols_(cols), stride_(stride), shift_(shift), values_(rows * stride + shift + kMargin) {
    for (std::int64_t i = 0; i < values_.size(); ++i) values_[i] = kNan<T>;
  }
  OddMatrix(std::int64_t rows, std::int64_t cols, std::int64_t stride, std::int64_t shift, std::uint64_t stream)
      : OddMatrix(rows, cols, stride, shift) {
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t c = 0; c < cols; ++c) view()(r, c) = T(random_value(stream, r * cols + c));
  }
  Matrix<T> view() { return {values_.data() + shift_, rows_, cols_, stride_}; }

  std::vector<T> elements() {
    std::vector<T> result;
    for (std::int64_t r = 0; r < rows_; ++r)
      for (std::int64_t c = 0; c < cols_; ++c) result.push_back(view()(r, c));
    return result;
  }
  /// Whether the memory before the first and behind the last element is as it was.
  bool ends_untouched() const {
    for (std::int64_t i = 0; i < shift_; ++i)
      if (!std::isnan(values_[i])) return false;
    const std::int64_t last = rows_ == 0 || cols_ == 0 ? 0 : (rows_ - 1) * stride_ + cols_;
    for (std::int64_t i = shift_ + last; i < values_.size(); ++i)
      if (!std::isnan(values_[i])) return false;
    return true;
  }

 private:
  static constexpr std::int64_t kMargin = 64;
  std::int64_t rows_, cols_, stride_, shift_;
  AlignedBuffer<T> values_;
};

/// How columns may lie in memory: tight, in cache lines as in training, and at odd places.
struct Layout {
  std::int64_t stride, shift;
};
inline std::vector<Layout> layouts(std::int64_t cols) { return {{cols, 0}, {(cols + 15) / 16 * 16, 0}, {cols + 5, 3}}; }

}  // namespace test
}  // namespace lockstep
