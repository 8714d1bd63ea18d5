#pragma once
// A view of a matrix that somebody else owns. Activations are [features, samples]: one row per feature, one
// column per sample, samples contiguous. `stride` (elements from row to row) may exceed `cols`: the columns
// between them are padding that kernels may overwrite with anything and never read into a result.

#include <cstdint>
#include <span>
#include <type_traits>

#include "lockstep/core/inline.hpp"

namespace lockstep {

template <class T>
struct MatrixView {
  T* data = nullptr;
  std::int64_t rows = 0, cols = 0, stride = 0;

  LOCKSTEP_INLINE T& operator()(std::int64_t row, std::int64_t col) const { return data[row * stride + col]; }
  LOCKSTEP_INLINE T* row(std::int64_t r) const { return data + r * stride; }
  LOCKSTEP_INLINE bool empty() const { return data == nullptr || rows == 0 || cols == 0; }
  /// Rows [first, first + count) of this matrix.
  LOCKSTEP_INLINE MatrixView rows_from(std::int64_t first, std::int64_t count) const {
    return {data + first * stride, count, cols, stride};
  }
  LOCKSTEP_INLINE operator MatrixView<const T>() const requires(!std::is_const_v<T>) {
    return {data, rows, cols, stride};
  }
};

template <class T>
using Matrix = MatrixView<T>;
template <class T>
using ConstMatrix = MatrixView<const T>;

/// A row-major matrix without padding over existing memory.
template <class T>
LOCKSTEP_INLINE MatrixView<T> dense_matrix(T* data, std::int64_t rows, std::int64_t cols) {
  return {data, rows, cols, cols};
}

}  // namespace lockstep
