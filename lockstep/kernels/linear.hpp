#pragma once
// Linear (fully connected) layer: y = w x + b.
//   x [in, samples]   w [out, in]   b [out] or null   y [out, samples]
// Every output is overwritten and never read (it may hold NaN); outputs must not overlap inputs.

#include "lockstep/kernels/cost.hpp"
#include "lockstep/kernels/slots.hpp"
#include "lockstep/tensor/view.hpp"

namespace lockstep {

/// Order: each y is one fma chain over `in`, ascending, starting from b (or 0): acc = fma(w, x, acc).
/// w_transposed [in, out] holds the same weights or is empty: a kernel reads whichever suits it.
template <class T>
struct LinearForward {
  ConstMatrix<T> x, w;
  const T* b = nullptr;
  Matrix<T> y;
  ConstMatrix<T> w_transposed{};
};

/// dx = w^T dy. Order: each dx is one fma chain over `out`, ascending, from 0.
template <class T>
struct LinearBackwardData {
  ConstMatrix<T> w, dy;
  Matrix<T> dx;
};

/// dw = dy x^T, db = dy summed over samples; the sum over the slots of a chunk.
/// Order: per slot one chain over its samples, ascending, from 0 (fma(dy, x, acc) for dw, acc + dy for db);
/// then the slot tree.
template <class T>
struct LinearBackwardWeights {
  ConstMatrix<T> x, dy;
  Slots slots;
  Matrix<T> dw;
  T* db = nullptr;  // null: the layer has no bias
};

constexpr Cost linear_cost(std::int64_t in, std::int64_t out, std::int64_t samples, std::size_t scalar) {
  const double i = double(in), o = double(out), n = double(samples);
  return {.flops = 2 * i * o * n, .bytes = double(scalar) * (i * n + i * o + o + o * n)};
}

}  // namespace lockstep
