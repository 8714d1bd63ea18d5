#pragma once
// Dropout: y = keep ? x * (1 / (1 - p)) : 0. Element e of a sample is kept when word e of its random stream is at least
// p * 2^32; the stream is keyed by (seed, epoch, sample id, layer), so the mask does not depend on who computes it and
// backward draws it again instead of storing it. Backward is the same operation on dy. y may be x itself.

#include <span>

#include "lockstep/core/philox.hpp"
#include "lockstep/kernels/cost.hpp"
#include "lockstep/tensor/view.hpp"

namespace lockstep {

inline constexpr std::int64_t kDropoutRows = 4;  // that one block of random words serves

template <class T>
struct DropoutApply {
  RandomKey key;                             // its sample field is replaced by each column's id
  std::span<const std::int64_t> sample_ids;  // one per column
  std::int64_t first_row = 0;                // the element of a sample that row 0 is: a multiple of kDropoutRows
  double p;
  ConstMatrix<T> x;
  Matrix<T> y;
};

constexpr Cost dropout_cost(std::int64_t features, std::int64_t samples, std::size_t scalar) {
  const double n = double(features) * double(samples);
  return {.flops = n, .bytes = double(scalar) * 2 * n};
}

}  // namespace lockstep
