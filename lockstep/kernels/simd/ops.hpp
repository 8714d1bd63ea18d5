#pragma once
// Vec as a type of lockstep::math, so that exp, log, tanh and the others run in its lanes with the scalar's bits; and
// walks over matrices in whole vectors that never touch a column which is not there.

#include "lockstep/kernels/math/elementary.hpp"
#include "lockstep/kernels/simd/kernels.hpp"
#include "lockstep/kernels/simd/mask.hpp"

namespace lockstep::math {

template <class T>
struct Ops<LOCKSTEP_SIMD::Vec<T>> {
  using V = LOCKSTEP_SIMD::Vec<T>;
  using Scalar = T;
  using Bits = typename V::Bits;

  static LOCKSTEP_INLINE V set(T value) { return LOCKSTEP_SIMD::broadcast(value); }
  static LOCKSTEP_INLINE Bits set_bits(typename V::Word value) {
    return LOCKSTEP_SIMD::detail::splat<Bits>(value, LOCKSTEP_SIMD::detail::Lanes<T>{});
  }
  static LOCKSTEP_INLINE Bits to_bits(V a) { return (Bits)a.v; }
  static LOCKSTEP_INLINE V from_bits(Bits a) { return {(typename V::Native)a}; }
  static LOCKSTEP_INLINE V select(LOCKSTEP_SIMD::Mask<T> mask, V yes, V no) {
    return LOCKSTEP_SIMD::select(mask, yes, no);
  }
  static LOCKSTEP_INLINE V fma(V a, V b, V c) { return LOCKSTEP_SIMD::fma(a, b, c); }
  static LOCKSTEP_INLINE V sqrt(V a) { return LOCKSTEP_SIMD::sqrt(a); }
};

}  // namespace lockstep::math

namespace lockstep::LOCKSTEP_SIMD {

/// work(column, end) for the columns [begin, end) in steps of a vector; `end` is Whole, or the Tail of the last step.
template <class T, class Work>
LOCKSTEP_INLINE void for_vectors(std::int64_t begin, std::int64_t end, const Work& work) {
  std::int64_t c = begin;
  for (; c + Vec<T>::kWidth <= end; c += Vec<T>::kWidth) work(c, Whole{});
  if (c < end) work(c, tail_of<T>(end - c));
}

/// y = f(x...), element by element; y may be one of the inputs. Matrices without padding are one long row.
template <class T, class F, class... Inputs>
LOCKSTEP_INLINE void map(Matrix<T> y, const F& f, const Inputs&... x) {
  const bool dense = y.stride == y.cols && (... && (x.stride == y.cols));
  const std::int64_t rows = dense ? least(y.rows, 1) : y.rows, cols = dense ? y.rows * y.cols : y.cols;
  for (std::int64_t r = 0; r < rows; ++r)
    for_vectors<T>(0, cols, [&](std::int64_t c, const auto& end) LOCKSTEP_INLINE_LAMBDA {
      store(y.row(r) + c, f(load(x.row(r) + c, end)...), end);
    });
}

/// The largest of each column: best = v > best ? v : best, from row 0.
template <class T, class End>
LOCKSTEP_INLINE Vec<T> column_max(ConstMatrix<T> x, std::int64_t column, const End& end) {
  Vec<T> best = load(x.data + column, end);
  for (std::int64_t k = 1; k < x.rows; ++k) best = larger(load(x.row(k) + column, end), best);
  return best;
}

}  // namespace lockstep::LOCKSTEP_SIMD
